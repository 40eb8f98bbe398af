package home

import (
	"context"
	"path/filepath"

	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// WebhookKey names the key by which a webhook knows who asks it. It signs questions
// and nothing else, so it has no passphrase.
const WebhookKey = "webhook"

// WebhookSigner is that key, which is made where there is none yet. The home is
// open to write.
func (h *Home) WebhookSigner(ctx context.Context) (trust.Signer, error) {
	path := filepath.Join(h.dir, keysDir, WebhookKey)
	if exists(path + ".key") {
		return keyfile.Open(path+".key", nil)
	}
	key, err := keyfile.Generate()
	if err != nil {
		return nil, err
	}
	if err := key.WritePlain(h.fsys, path+".key"); err != nil {
		return nil, err
	}
	// From the private half, which may be there without it after an interruption.
	if err := key.WritePublic(h.fsys, path+".pub", WebhookKey); err != nil {
		return nil, err
	}
	return key, h.append(ctx, record.KeyCreated{Name: WebhookKey, Fingerprint: key.Public().Fingerprint()})
}
