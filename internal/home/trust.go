package home

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// AddSigner enters a signer in the next trust document.
func (h *Home) AddSigner(ctx context.Context, e trust.Entry, pass keyfile.Passphrase) error {
	if err := h.plainKeySigns(e); err != nil {
		return err
	}
	return h.extendTrust(ctx, pass, record.TrustChanged{Added: []string{e.ID}, Revoked: []string{}}, func(d *trust.Draft) error { return d.Add(e) })
}

// plainKeySigns refuses authority to a key that lies unprotected in the home.
func (h *Home) plainKeySigns(e trust.Entry) error {
	if e.Level == level.Unverified && !e.Approver {
		return nil
	}
	keys, err := h.Keys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.Public == e.PublicKey && k.Private && !k.Protected {
			return &Error{Reason: KeyUnguarded, Path: k.Name, Detail: "this key has no passphrase, so it may neither sign above unverified nor approve; make one with iff key new"}
		}
	}
	return nil
}

// Revoke ends a signer's authority in the next trust document.
func (h *Home) Revoke(ctx context.Context, id, why string, pass keyfile.Passphrase) error {
	return h.extendTrust(ctx, pass, record.TrustChanged{Added: []string{}, Revoked: []string{id}}, func(d *trust.Draft) error { return d.Revoke(id, h.now(), why) })
}

// extendTrust opens the chain again as a draft, changes it, has the root key
// sign it and stores the next document. The change is checked before the
// passphrase is asked for.
func (h *Home) extendTrust(ctx context.Context, pass keyfile.Passphrase, body record.TrustChanged, change func(*trust.Draft) error) error {
	draft, err := h.openTrust()
	if err != nil {
		return err
	}
	if err := change(draft); err != nil {
		return err
	}
	if err := h.mustBeProtected(RootKey); err != nil {
		return err
	}
	key, err := h.OpenKey(RootKey, pass)
	if err != nil {
		return err
	}
	doc, err := draft.Sign(key)
	if err != nil {
		return err
	}
	next, err := draft.Lock()
	if err != nil {
		return err
	}
	// The document before the record: a record of a document that is not there
	// would read as a rollback. The other way round is caught up by Open.
	if err := durable.WriteNew(h.fsys, h.trustPath(next.Version()), doc, 0o600); err != nil {
		return err
	}
	h.root.Store(next)
	body.Version, body.Digest = next.Version(), next.Digest()
	return h.append(ctx, body)
}

// catchUp records trust documents that were stored and, because the process
// died just then, not recorded.
func (h *Home) catchUp(ctx context.Context) error {
	version, _ := h.State().Trust()
	if h.Root().Version() <= version {
		return nil
	}
	return h.append(ctx, record.TrustChanged{Version: h.Root().Version(), Digest: h.Root().Digest(), Added: []string{}, Revoked: []string{}})
}

// KeyInfo is one key of the home.
type KeyInfo struct {
	Name      string
	Public    trust.PublicKey
	Private   bool // the private half is here
	Protected bool // by a passphrase
}

// Keys lists the keys of the home by name.
func (h *Home) Keys() ([]KeyInfo, error) {
	paths, err := filepath.Glob(filepath.Join(h.dir, keysDir, "*.pub"))
	if err != nil {
		return nil, err
	}
	var out []KeyInfo
	for _, path := range paths {
		public, _, err := keyfile.ReadPublic(path)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(path[:len(path)-len(".pub")])
		k := KeyInfo{Name: name, Public: public}
		private := filepath.Join(h.dir, keysDir, name+".key")
		if exists(private) {
			k.Private = true
			if k.Protected, err = keyfile.IsProtected(private); err != nil {
				return nil, err
			}
		}
		out = append(out, k)
	}
	return out, nil
}

// NewKey makes a protected key pair in the home. It is trusted for nothing
// until it is added to the trust root.
func (h *Home) NewKey(ctx context.Context, name string, passphrase []byte) (KeyInfo, error) {
	if err := trust.CheckID(name); err != nil {
		return KeyInfo{}, err
	}
	if name == RootKey || name == ApproverKey || name == AdopterKey || name == WebhookKey || strings.HasPrefix(name, logKeyPrefix) {
		return KeyInfo{}, &keyfile.Error{Reason: keyfile.Exists, Path: name, Detail: "iff gives this name to a key of its own; choose another"}
	}
	path := filepath.Join(h.dir, keysDir, name)
	if exists(path+".key") || exists(path+".pub") {
		return KeyInfo{}, &keyfile.Error{Reason: keyfile.Exists, Path: name, Detail: "a key of this name is there; choose another name, keys are never replaced"}
	}
	key, err := keyfile.Generate()
	if err != nil {
		return KeyInfo{}, err
	}
	// The public half first: a key whose writing was interrupted is then listed.
	if err := key.WritePublic(h.fsys, path+".pub", name); err != nil {
		return KeyInfo{}, err
	}
	if err := key.WriteProtected(h.fsys, path+".key", passphrase); err != nil {
		return KeyInfo{}, err
	}
	body := record.KeyCreated{Name: name, Fingerprint: key.Public().Fingerprint(), Protected: true}
	if err := h.append(ctx, body); err != nil {
		return KeyInfo{}, err
	}
	return KeyInfo{Name: name, Public: key.Public(), Private: true, Protected: true}, nil
}
