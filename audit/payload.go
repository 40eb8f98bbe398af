package audit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"unicode/utf8"

	"github.com/iff-run/iff/record"
)

// MaxPayload bounds what is kept beside the log for one record, in bytes.
const MaxPayload = 16 << 20

func blobName(digest record.Hash) string { return "blob-" + digest.String() }

// keep makes a payload of data: in the line if it is short text, else in the
// store under its digest, durably.
func keep(ctx context.Context, store Store, data []byte) (record.Payload, error) {
	p := record.Payload{Digest: sha256.Sum256(data), Size: int64(len(data))}
	switch {
	case len(data) > MaxPayload:
		return record.Payload{}, fmt.Errorf("payload of %d bytes, at most %d: %w", len(data), MaxPayload, record.ErrTooLong)
	case len(data) <= record.MaxInline && utf8.Valid(data):
		p.Text = string(data)
		return p, nil
	}
	if err := store.Save(ctx, blobName(p.Digest), data); err != nil {
		return record.Payload{}, fmt.Errorf("payload: %w", err)
	}
	return p, nil
}

// Fetch gives the bytes of a payload and checks them against its digest. What
// is gone or is something else is an *Error, reason blob-missing.
func Fetch(ctx context.Context, store Store, p record.Payload) ([]byte, error) {
	if p.Size == 0 {
		return nil, nil
	}
	data := []byte(p.Text)
	if p.Text == "" {
		if p.Size < 0 || p.Size > MaxPayload {
			return nil, &Error{Reason: BlobMissing, Detail: fmt.Sprintf("%s: a size that no payload has", p.Digest)}
		}
		var err error
		if data, err = store.Load(ctx, blobName(p.Digest), int(p.Size)); err != nil {
			return nil, &Error{Reason: BlobMissing, Detail: p.Digest.String(), Err: err}
		}
	}
	if int64(len(data)) != p.Size || sha256.Sum256(data) != p.Digest {
		return nil, &Error{Reason: BlobMissing, Detail: fmt.Sprintf("%s: it is not there, or is something else", p.Digest)}
	}
	return data, nil
}
