package anchor

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/trust"
)

// The signature types that the key of a witness may be published with; both mean Ed25519 cosignatures here.
const (
	typeEd25519     = 1
	typeCosignature = 4
)

// parseKey reads the verifier key of a witness, its id and that somebody can have generated it included.
func parseKey(vkey string) (note.Verifier, error) {
	part := strings.SplitN(vkey, "+", 3)
	if len(part) != 3 {
		return nil, errors.New("a verifier key is name+id+key")
	}
	key, err := base64.StdEncoding.DecodeString(part[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != typeEd25519 && key[0] != typeCosignature {
		return nil, errors.New("it is not an Ed25519 key, of type 4 or 1")
	}
	sum := sha256.Sum256(append([]byte(part[0]+"\n"), key...))
	if fmt.Sprintf("%x", sum[:4]) != part[1] {
		return nil, errors.New("its id is not that of its name and key")
	}
	if _, err := trust.NewPublicKey(key[1:]); err != nil {
		return nil, err
	}
	if visible.Escape(part[0]) != part[0] {
		return nil, errors.New("its name has characters that people cannot see")
	}
	return cosignature.NewVerifierForCosignatureV1(vkey)
}
