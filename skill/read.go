package skill

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/iff-run/iff/internal/beneath"
	"github.com/iff-run/iff/manifest"
)

// Limits bound what is read of one directory. A zero field means its default.
type Limits struct {
	Files     int   // regular files, and likewise directories; 4,096
	Bytes     int64 // all files together; 64 MiB
	FileBytes int64 // one file; 32 MiB
	Depth     int   // directories below the skill's own; 16
}

func (l Limits) orDefault() Limits {
	def := func(v, d int64) int64 {
		if v <= 0 {
			return d
		}
		return v
	}
	return Limits{
		Files:     int(def(int64(l.Files), 4096)),
		Bytes:     def(l.Bytes, 64<<20),
		FileBytes: def(l.FileBytes, 32<<20),
		Depth:     int(def(int64(l.Depth), 16)),
	}
}

// sidecarLimit bounds each of the three files beside the content.
const sidecarLimit = 8 << 20

// Sidecar is what iff keeps about a skill: nil where there is no such file.
type Sidecar struct {
	Manifest  []byte
	Signature []byte
}

// Package is a skill directory as it was read, once. Nothing about it has been
// believed yet.
type Package struct {
	dir     string
	content *Content
	err     error // why there is no content
	sidecar Sidecar
	// Why a sidecar file that is there could not be read.
	manifestErr, signatureErr error
}

// Read reads a directory once, within limits. A directory that cannot be
// opened is an error, *ReadError. Anything in it that keeps the content from
// being hashed is remembered, so that it is refused at the step where content
// matters, with the file named; [Package.Content] returns it.
func Read(dir string, limits Limits) (*Package, error) {
	if !utf8.ValidString(dir) {
		return nil, &ReadError{Reason: Reason(beneath.FileName), File: filepath.Base(dir), Detail: "the path is not UTF-8, so no record could name it; rename it"}
	}
	root, err := beneath.Open(dir)
	if err != nil {
		return nil, fromBeneath(dir, err)
	}
	defer root.Close()
	r := &reader{limits: limits.orDefault(), data: make(map[string][]byte), twins: make(map[string]string)}
	p := &Package{dir: dir}
	p.err = r.walk(root, "", 0)
	r.hasher.wait()
	if p.err == nil {
		for i, sum := range r.sums {
			r.files[i].SHA256 = *sum
		}
		p.content, p.err = newContent(r.files, r.data)
	}
	p.sidecar.Manifest, p.manifestErr = readSidecar(root, manifest.FileName)
	p.sidecar.Signature, p.signatureErr = readSidecar(root, manifest.SignatureFileName)
	return p, nil
}

// Directory is the path that was read.
func (p *Package) Directory() string { return p.dir }

// Content returns what was read, or why it could not be: a *ReadError.
func (p *Package) Content() (*Content, error) { return p.content, p.err }

// Sidecar returns the manifest and signature that belong to the package.
func (p *Package) Sidecar() Sidecar { return p.sidecar }

// HasManifest reports whether there is a manifest, readable or not.
func (p *Package) HasManifest() bool { return p.sidecar.Manifest != nil || p.manifestErr != nil }

// WithSidecar returns the package with a sidecar that is kept elsewhere.
func (p *Package) WithSidecar(s Sidecar) *Package {
	q := *p
	q.sidecar, q.manifestErr, q.signatureErr = s, nil, nil
	return &q
}

type reader struct {
	limits Limits
	files  []File
	data   map[string][]byte
	bytes  int64
	dirs   int
	hasher hasher
	sums   []*Hash // of files, one each
	twins  map[string]string
}

func (r *reader) walk(d *beneath.Dir, prefix string, depth int) error {
	if depth > r.limits.Depth {
		return &ReadError{Reason: TooDeep, File: prefix, Detail: fmt.Sprintf("more than %d directories deep", r.limits.Depth)}
	}
	before, err := d.Stamp()
	if err != nil {
		return fromBeneath(prefix, err)
	}
	entries, err := d.Entries(r.limits.Files + 3)
	if err != nil {
		return r.entriesError(prefix, err)
	}
	for _, e := range entries {
		if depth == 0 && ours(e.Name) && e.Kind == beneath.Regular {
			continue
		}
		if err := r.entry(d, path.Join(prefix, e.Name), e, depth); err != nil {
			return err
		}
	}
	after, err := d.Stamp()
	if err != nil {
		return fromBeneath(prefix, err)
	}
	if before != after {
		return &ReadError{Reason: Changing, File: orDot(prefix), Detail: "the directory changed while it was read; try again when nothing writes there"}
	}
	return nil
}

func (r *reader) entry(d *beneath.Dir, name string, e beneath.Entry, depth int) error {
	if err := beneath.CheckName(e.Name); err != nil {
		return fromBeneath(name, err)
	}
	if err := r.twin(name); err != nil {
		return err
	}
	if e.Kind == beneath.Directory {
		if r.dirs++; r.dirs > r.limits.Files {
			return &ReadError{Reason: TooManyFiles, File: name, Detail: fmt.Sprintf("more than %d directories", r.limits.Files)}
		}
		sub, err := d.Dir(e.Name)
		if err != nil {
			return fromBeneath(name, err)
		}
		defer sub.Close()
		return r.walk(sub, name, depth+1)
	}
	if len(r.files) >= r.limits.Files {
		return &ReadError{Reason: TooManyFiles, File: name, Detail: fmt.Sprintf("more than %d files", r.limits.Files)}
	}
	f, err := d.ReadFile(e.Name, r.limits.FileBytes)
	if err != nil {
		return r.fileError(name, err)
	}
	if r.bytes += int64(len(f.Data)); r.bytes > r.limits.Bytes {
		return &ReadError{Reason: ContentTooLarge, File: name, Detail: fmt.Sprintf("with this file the skill is over %d bytes", r.limits.Bytes)}
	}
	r.files = append(r.files, File{Path: name, Size: int64(len(f.Data)), Executable: f.Executable})
	r.data[name] = f.Data
	r.sums = append(r.sums, r.hasher.sum(f.Data))
	return nil
}

// twin refuses two names that a case-folding or normalising file system would
// take for one: what was signed here could not be told apart there.
func (r *reader) twin(name string) error {
	key := fold(name)
	if other, ok := r.twins[key]; ok {
		return &ReadError{Reason: NameTwin, File: name, Detail: strconv.QuoteToASCII(name) + " differs from " + strconv.QuoteToASCII(other) + " only in case or Unicode form; rename one"}
	}
	r.twins[key] = name
	return nil
}

// fold lowers before it folds, because folding alone raises Cherokee letters
// that have two cases.
func fold(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			return norm.NFC.String(cases.Fold().String(strings.ToLower(norm.NFKC.String(name))))
		}
	}
	return strings.ToLower(name)
}

func (r *reader) entriesError(name string, err error) error {
	out := fromBeneath(orDot(name), err)
	if out.Reason == Reason(beneath.TooManyEntries) {
		out.Reason, out.Detail = TooManyFiles, fmt.Sprintf("more than %d files", r.limits.Files)
	}
	return out
}

func (r *reader) fileError(name string, err error) error {
	out := fromBeneath(name, err)
	if out.Reason == Reason(beneath.FileTooLarge) {
		out.Detail = fmt.Sprintf("larger than %d bytes", r.limits.FileBytes)
	}
	return out
}

func ours(name string) bool {
	return name == manifest.FileName || name == manifest.SignatureFileName || name == manifest.AttestFileName
}

func orDot(name string) string {
	if name == "" {
		return "."
	}
	return name
}

// readSidecar reads one of the files beside the content; nil where it is not.
func readSidecar(root *beneath.Dir, name string) ([]byte, error) {
	f, err := root.ReadFile(name, sidecarLimit)
	if out := (*beneath.Error)(nil); errors.As(err, &out) && out.Reason == beneath.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fromBeneath(name, err)
	}
	return f.Data, nil
}

// fromBeneath gives an error of the directory layer the name that the author
// of the skill knows the file by.
func fromBeneath(name string, err error) *ReadError {
	out := &ReadError{Reason: Unreadable, File: name, Detail: err.Error(), Err: err}
	var b *beneath.Error
	if errors.As(err, &b) {
		out.Reason, out.Detail = Reason(b.Reason), b.Detail
	}
	return out
}

// Name is the last element of the directory's path.
func (p *Package) Name() string { return filepath.Base(p.dir) }
