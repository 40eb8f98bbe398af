package record

// What happens to a home: its beginning, keys, trust and skills (DESIGN
// sections 4 and 8).

// The kinds.
const (
	KindInit         Kind = "init"
	KindKeyCreated   Kind = "key.created"
	KindKeyRotated   Kind = "key.rotated"
	KindTrustChanged Kind = "trust.changed"
	KindSkillAdopted Kind = "skill.adopted"
	KindSkillSigned  Kind = "skill.signed"
	KindSkillLoaded  Kind = "skill.loaded"
	KindSkillRefused Kind = "skill.refused"
	KindSkillEvicted Kind = "skill.evicted"
	KindRevocation   Kind = "revocation"
)

// Init is the first record of every log and of no other place: which log it
// is, and under which authority it began.
type Init struct {
	LogKey      string // base64 Ed25519 public key that signs the first checkpoints
	Operator    string // signer id of the operator
	Origin      string // name of the log, in every checkpoint
	Profile     string // strict or dev
	Root        string // fingerprint of the root key
	Scheme      string // name of the label scheme
	TrustDigest string // digest of trust document 1
}

func (b *Init) walk(c *codec) {
	c.open()
	c.text("logKey", &b.LogKey)
	c.text("operator", &b.Operator)
	c.text("origin", &b.Origin)
	c.text("profile", &b.Profile)
	c.text("root", &b.Root)
	c.text("scheme", &b.Scheme)
	c.text("trustDigest", &b.TrustDigest)
	c.close()
}

// KeyCreated says that a key pair was made in the home.
type KeyCreated struct {
	Fingerprint string
	Name        string
	Protected   bool
}

func (b *KeyCreated) walk(c *codec) {
	c.open()
	c.text("fingerprint", &b.Fingerprint)
	c.text("name", &b.Name)
	c.bool("protected", &b.Protected)
	c.close()
}

// KeyRotated says that the log signs with another key from here on. Both keys
// sign the same message, so neither can be put in without the other.
type KeyRotated struct {
	Epoch        int64  // number of the new key; the first has 1
	New          string // base64 public key
	NewSignature string // base64, by the new key
	Old          string
	OldSignature string
}

func (b *KeyRotated) walk(c *codec) {
	c.open()
	c.int("epoch", &b.Epoch)
	c.text("new", &b.New)
	c.text("newSignature", &b.NewSignature)
	c.text("old", &b.Old)
	c.text("oldSignature", &b.OldSignature)
	c.close()
}

// TrustChanged says that a trust document was signed and stored.
type TrustChanged struct {
	Added   []string
	Digest  string // hex SHA-256 of its canonical form
	Revoked []string
	Version int64
}

func (b *TrustChanged) walk(c *codec) {
	c.open()
	c.texts("added", &b.Added)
	c.text("digest", &b.Digest)
	c.texts("revoked", &b.Revoked)
	c.int("version", &b.Version)
	c.close()
}

// Skill identifies exactly one signed skill.
type Skill struct {
	Name    string
	Version int64
	Signer  string
	Level   string
	Content string // content root, hex
	Subject string // hex SHA-256 of the signed bytes: content root and manifest
}

func (b *Skill) walk(c *codec) {
	c.open()
	c.text("content", &b.Content)
	c.text("level", &b.Level)
	c.text("name", &b.Name)
	c.text("signer", &b.Signer)
	c.text("subject", &b.Subject)
	c.int("version", &b.Version)
	c.close()
}

func (b *Skill) field(c *codec) {
	c.key("skill")
	b.walk(c)
}

// SkillAdopted says that an operator adopted a directory as unverified.
type SkillAdopted struct {
	Directory string
	Replaced  bool // a manifest that somebody else had signed was there
	Skill     Skill
}

func (b *SkillAdopted) walk(c *codec) {
	c.open()
	c.text("directory", &b.Directory)
	c.bool("replaced", &b.Replaced)
	b.Skill.field(c)
	c.close()
}

// SkillSigned says that a skill was signed with a key of the trust root.
type SkillSigned struct {
	Directory string
	Skill     Skill
}

func (b *SkillSigned) walk(c *codec) {
	c.open()
	c.text("directory", &b.Directory)
	b.Skill.field(c)
	c.close()
}

// SkillLoaded says that a skill passed the seven steps.
type SkillLoaded struct {
	Directory string
	Skill     Skill
}

func (b *SkillLoaded) walk(c *codec) {
	c.open()
	c.text("directory", &b.Directory)
	b.Skill.field(c)
	c.close()
}

// SkillRefused says at which step a skill was refused, and why.
type SkillRefused struct {
	Directory string
	Reason    string // closed token
	Step      int64  // 1 to 7
	Where     string // field or file; may be empty
}

func (b *SkillRefused) walk(c *codec) {
	c.open()
	c.text("directory", &b.Directory)
	c.text("reason", &b.Reason)
	c.int("step", &b.Step)
	c.text("where", &b.Where)
	c.close()
}

// SkillEvicted says that a loaded skill serves no more calls.
type SkillEvicted struct {
	Reason string // closed token
	Skill  Skill
}

func (b *SkillEvicted) walk(c *codec) {
	c.open()
	c.text("reason", &b.Reason)
	b.Skill.field(c)
	c.close()
}

// Revocation says that a signed narrowing of the trust root took effect in a
// running runtime (DESIGN section 2, lock vs revocation).
type Revocation struct {
	Cancelled  []string // ids of the requests that were pending under it
	Digest     string   // of the trust document
	Evicted    []string // names of skills
	Generation int64    // rises with each
	Signer     string
	Version    int64 // of the trust document
}

func (b *Revocation) walk(c *codec) {
	c.open()
	c.texts("cancelled", &b.Cancelled)
	c.text("digest", &b.Digest)
	c.texts("evicted", &b.Evicted)
	c.int("generation", &b.Generation)
	c.text("signer", &b.Signer)
	c.int("version", &b.Version)
	c.close()
}
