package vectors_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
	logfile "github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const firstSegment = "00000000000000000000.jsonl"

// runLog has the lines of one segment.
func runLog(v vector, scratch string) (result, error) {
	data := v.payload
	if len(data) > 0 {
		data = append(data[:len(data):len(data)], '\n')
	}
	return v.verify(map[string][]byte{firstSegment: data}, scratch)
}

// runLogBytes has the bytes of one segment.
func runLogBytes(v vector, scratch string) (result, error) {
	return v.verify(map[string][]byte{firstSegment: v.payload}, scratch)
}

func runSegments(v vector, scratch string) (result, error) {
	var list []struct {
		Lines []string `json:"lines"`
		Name  string   `json:"name"`
	}
	if err := canonical.Parse(v.payload, &list, canonical.Limits{}); err != nil {
		return result{}, err
	}
	segments := map[string][]byte{}
	for _, s := range list {
		if _, twice := segments[s.Name]; twice {
			return result{}, fmt.Errorf("segment %q twice", s.Name)
		}
		segments[s.Name] = []byte(strings.Join(append(s.Lines, ""), "\n"))
	}
	return v.verify(segments, scratch)
}

// verify writes a log below scratch and has package audit judge it.
func (v vector) verify(segments map[string][]byte, scratch string) (result, error) {
	o, err := v.expectations()
	if err != nil {
		return result{}, err
	}
	for name, data := range segments {
		if filepath.Base(name) != name {
			return result{}, fmt.Errorf("%q is no name of a segment", name)
		}
		if err := os.WriteFile(filepath.Join(scratch, name), data, 0o600); err != nil {
			return result{}, err
		}
	}
	store, err := logfile.OpenRead(durable.OS(), scratch)
	if err != nil {
		return result{}, err
	}
	defer store.Close()
	rep, err := audit.Verify(context.Background(), store, o)
	if err != nil {
		return result{}, err
	}
	switch p := rep.Problem; {
	case p == nil:
		return answer("ok", "records", strconv.FormatInt(rep.Records, 10), "signed", strconv.FormatInt(rep.Signed, 10),
			"root", base64.StdEncoding.EncodeToString(rep.Root[:]), "chain", rep.Chain.String(), "state", rep.State.String())
	case strings.HasPrefix(string(p.Reason), "log-"): // it is of no one record
		return answer(string(p.Reason))
	default:
		return answer(string(p.Reason), "record", strconv.FormatInt(p.Seq, 10))
	}
}

// expectations are the lines of the header that say what the log is held
// against.
func (v vector) expectations() (o audit.VerifyOptions, err error) {
	o.Pin.Origin = v.get("origin")
	if text := v.get("key"); text != "" {
		if o.Pin.Key, err = audit.ParseKey(text); err != nil {
			return o, err
		}
	}
	if text := v.get("anchor"); text != "" {
		size, root, _ := strings.Cut(text, " ")
		n, badSize := strconv.ParseInt(size, 10, 64)
		raw, badRoot := base64.StdEncoding.DecodeString(root)
		if err := errors.Join(badSize, badRoot); err != nil || len(raw) != len(record.Hash{}) {
			return o, fmt.Errorf("anchor %q: %w", text, err)
		}
		o.Anchors = []audit.Anchored{{By: "the vector", Size: n, Root: record.Hash(raw)}}
	}
	return o, nil
}

func runReceipt(v vector, _ string) (result, error) {
	var key trust.PublicKey
	if err := key.UnmarshalText([]byte(v.get("key"))); err != nil {
		return result{}, err
	}
	verifier, err := audit.Verifier(v.get("origin"), key)
	if err != nil {
		return result{}, err
	}
	r, err := audit.ParseReceipt(append(v.payload[:len(v.payload):len(v.payload)], '\n'))
	if err != nil {
		return refuseLog(err)
	}
	c, err := r.Check(verifier)
	if err != nil {
		return refuseLog(err)
	}
	return answer("ok", "index", strconv.FormatInt(r.Seq, 10), "size", strconv.FormatInt(c.Size, 10), "leaf", r.Leaf.String())
}

func refuseLog(err error) (result, error) {
	var e *audit.Error
	if !errors.As(err, &e) {
		return result{}, err
	}
	return answer(string(e.Reason))
}
