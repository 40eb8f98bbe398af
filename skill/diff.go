package skill

import (
	"fmt"

	"github.com/iff-run/iff/manifest"
)

// ChangeKind says what happened to a file since it was signed.
type ChangeKind string

// The kinds of change.
const (
	Added       ChangeKind = "added"
	Removed     ChangeKind = "removed"
	Modified    ChangeKind = "modified"
	ModeChanged ChangeKind = "executable-changed"
	Renamed     ChangeKind = "renamed"
)

// Change is one difference between what was signed and what is there.
type Change struct {
	Kind   ChangeKind `json:"kind"`
	Path   string     `json:"path"`
	From   string     `json:"from,omitzero"` // the old path of a renamed file
	Before *File      `json:"before,omitzero"`
	After  *File      `json:"after,omitzero"`
}

// Describe says the change in a few words, without the path.
func (c Change) Describe() string {
	switch c.Kind {
	case Added:
		return fmt.Sprintf("was added (%d bytes)", c.After.Size)
	case Removed:
		return fmt.Sprintf("was removed (%d bytes)", c.Before.Size)
	case Renamed:
		return "was renamed from " + c.From
	case ModeChanged:
		if c.After.Executable {
			return "became executable"
		}
		return "is no longer executable"
	}
	return fmt.Sprintf("differs from what was signed (size %d -> %d)", c.Before.Size, c.After.Size)
}

// compare lists the differences between two sorted content lists, sorted by
// path.
func compare(before, after []File) []Change {
	var out []Change
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case j == len(after) || i < len(before) && before[i].Path < after[j].Path:
			out = append(out, Change{Kind: Removed, Path: before[i].Path, Before: &before[i]})
			i++
		case i == len(before) || after[j].Path < before[i].Path:
			out = append(out, Change{Kind: Added, Path: after[j].Path, After: &after[j]})
			j++
		default:
			if before[i] != after[j] {
				out = append(out, modified(&before[i], &after[j]))
			}
			i, j = i+1, j+1
		}
	}
	return pairRenames(out)
}

func modified(before, after *File) Change {
	kind := Modified
	if before.SHA256 == after.SHA256 {
		kind = ModeChanged
	}
	return Change{Kind: kind, Path: after.Path, Before: before, After: after}
}

// pairRenames joins an added and a removed file with the same bytes.
func pairRenames(changes []Change) []Change {
	gone := make(map[Hash]int)
	for i, c := range changes {
		if c.Kind == Removed {
			gone[c.Before.SHA256] = i
		}
	}
	drop := make(map[int]bool)
	for i, c := range changes {
		if c.Kind != Added {
			continue
		}
		if from, ok := gone[c.After.SHA256]; ok && changes[from].Before.Executable == c.After.Executable {
			delete(gone, c.After.SHA256)
			drop[from] = true
			changes[i] = Change{Kind: Renamed, Path: c.Path, From: changes[from].Path, Before: changes[from].Before, After: c.After}
		}
	}
	out := changes[:0]
	for i, c := range changes {
		if !drop[i] {
			out = append(out, c)
		}
	}
	return out
}

// ManifestState says whether a manifest is the one that its signature names.
type ManifestState string

// The states of a manifest.
const (
	ManifestSame  ManifestState = "same"
	ManifestOther ManifestState = "changed"
)

// Difference is what differs between a package and what was signed, going by
// the signature file alone. It does not say that the signature is anyone's:
// that is what [Verify] is for.
type Difference struct {
	Manifest ManifestState
	Changes  []Change
}

// Same reports whether nothing differs.
func (d Difference) Same() bool { return d.Manifest == ManifestSame && len(d.Changes) == 0 }

// Compare holds a package against its signature file. Errors: *LoadError if
// there is no signature or manifest that can be read, *ReadError if the content
// cannot be.
func Compare(p *Package) (Difference, error) {
	if p.sidecar.Manifest == nil || p.sidecar.Signature == nil {
		return Difference{}, &LoadError{Step: 3, Reason: SignatureMissing, Detail: "nobody has signed this skill here, so there is nothing to compare with"}
	}
	f, err := parseSignature(p.sidecar.Signature)
	if err != nil {
		return Difference{}, err
	}
	if p.err != nil {
		return Difference{}, p.err
	}
	d := Difference{Manifest: ManifestOther, Changes: compare(f.Content, p.content.files)}
	if form, err := manifest.CanonicalForm(p.sidecar.Manifest); err == nil && hashOf(form) == f.Manifest {
		d.Manifest = ManifestSame
	}
	return d, nil
}
