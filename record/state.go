package record

// Identity is what versions are counted by: a name under a signer.
type Identity struct{ Name, Signer string }

// Observed is the newest version of an identity that was seen.
type Observed struct {
	Version int64
	Subject string // of that version
}

// Placed is what a directory was last adopted, signed or loaded as.
type Placed struct {
	Skill Skill
}

// State is what the records say about the past. The zero value is the state
// of an empty log.
type State struct {
	observed map[Identity]Observed
	placed   map[string]Placed
	order    []string // directories in the order they first appeared
	trust    TrustChanged
	root     string
}

// Apply folds one record. A record never lowers what was observed, and applying
// one twice is applying it once.
func (s *State) Apply(r Record) {
	switch b := r.Body.(type) {
	case Init:
		s.root = b.Root
		s.trust = TrustChanged{Version: 1, Digest: b.TrustDigest}
	case TrustChanged:
		if b.Version > s.trust.Version {
			s.trust = b
		}
	case SkillAdopted:
		s.observe(b.Skill)
		s.place(b.Directory, b.Skill)
	case SkillSigned:
		s.observe(b.Skill)
		s.place(b.Directory, b.Skill)
	case SkillLoaded:
		s.observe(b.Skill)
		s.place(b.Directory, b.Skill)
	case KeyCreated, SkillRefused:
		// Neither changes what bootstrap has to know.
	}
}

func (s *State) observe(k Skill) {
	if s.observed == nil {
		s.observed = make(map[Identity]Observed)
	}
	id := Identity{Name: k.Name, Signer: k.Signer}
	if old, ok := s.observed[id]; !ok || k.Version > old.Version {
		s.observed[id] = Observed{Version: k.Version, Subject: k.Subject}
	}
}

func (s *State) place(directory string, k Skill) {
	if s.placed == nil {
		s.placed = make(map[string]Placed)
	}
	if _, ok := s.placed[directory]; !ok {
		s.order = append(s.order, directory)
	}
	s.placed[directory] = Placed{Skill: k}
}

// Observed returns the newest version seen of an identity.
func (s *State) Observed(id Identity) (Observed, bool) {
	o, ok := s.observed[id]
	return o, ok
}

// Placed returns what a directory was last adopted, signed or loaded as.
func (s *State) Placed(directory string) (Placed, bool) {
	p, ok := s.placed[directory]
	return p, ok
}

// Directories lists every directory whose skill was adopted, signed or loaded,
// in the order of their first appearance.
func (s *State) Directories() []string { return append([]string(nil), s.order...) }

// Trust returns the newest trust document that was recorded: version and
// digest; version 0 if none was.
func (s *State) Trust() (version int64, digest string) { return s.trust.Version, s.trust.Digest }

// Root is the fingerprint of the root key that init recorded.
func (s *State) Root() string { return s.root }
