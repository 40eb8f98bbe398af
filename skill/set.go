package skill

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
)

// BaseName is the name of the operator's manifest without content, under
// which calls outside any skill are made.
const BaseName = "base"

// Set is the skills of a session: frozen, safe for concurrent use. The zero
// value is empty.
type Set struct{ skills map[string]Loaded }

func newSet(loaded map[string]Loaded) *Set { return &Set{skills: maps.Clone(loaded)} }

// Skill returns a loaded skill by its name.
func (s *Set) Skill(name string) (Loaded, bool) {
	l, ok := s.skills[name]
	return l, ok
}

// Names lists the loaded skills, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.skills)) }

// Len is the number of loaded skills.
func (s *Set) Len() int { return len(s.skills) }

// skillFile is the path of the skill's SKILL.md, empty if it has none. Some
// clients accept lower case; so do we, and inspection says so.
func skillFile(c *Content) string {
	for _, name := range []string{"SKILL.md", "skill.md"} {
		if _, ok := c.data[name]; ok {
			return name
		}
	}
	for _, f := range c.files {
		if strings.EqualFold(f.Path, "SKILL.md") {
			return f.Path
		}
	}
	return ""
}

func hashOf(b []byte) Hash { return sha256.Sum256(b) }
