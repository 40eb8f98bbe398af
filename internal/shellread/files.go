package shellread

import (
	"path"
	"strings"

	"github.com/iff-run/iff/capability"
)

// role says what a command does to a file that it is given.
type role uint8

const (
	nothing role = iota
	reads
	writes
	changes // reads and writes
)

// fileTool is a program whose arguments are files.
type fileTool struct {
	letters string // short options that take a value
	longs   string // long options that take the next argument
	skip    int    // operands before the files: the pattern of grep
	instead string // options that take the place of those
	rest    role
	last    role   // of the last of several operands, if not nothing
	input   string // options whose value is read
	output  string // options whose value is written
	tree    string // options with which operands are trees; * for always
}

var fileTools = map[string]fileTool{
	"cat": {rest: reads}, "tac": {rest: reads}, "nl": {rest: reads, letters: "bdfhilnsvw"},
	"head": {rest: reads, letters: "nc", longs: "--lines --bytes"},
	"tail": {rest: reads, letters: "nc", longs: "--lines --bytes --pid"},
	"wc":   {rest: reads}, "rev": {rest: reads}, "more": {rest: reads}, "less": {rest: reads}, "bat": {rest: reads, letters: "lr"},
	"sort": {rest: reads, letters: "ktSTo", longs: "--output", output: "o output"},
	"uniq": {rest: reads, last: writes, letters: "fsw"},
	"cut":  {rest: reads, letters: "bcdf", longs: "--delimiter --fields"}, "paste": {rest: reads, letters: "d"},
	"column": {rest: reads, letters: "sNcot"}, "fold": {rest: reads, letters: "w"}, "fmt": {rest: reads, letters: "w"},
	"od": {rest: reads, letters: "AjNtw"}, "hexdump": {rest: reads, letters: "efns"}, "xxd": {rest: reads, letters: "clogs"},
	"strings": {rest: reads, letters: "net"}, "base64": {rest: reads, letters: "w"}, "base32": {rest: reads, letters: "w"},
	"md5sum": {rest: reads}, "sha1sum": {rest: reads}, "sha256sum": {rest: reads}, "sha512sum": {rest: reads},
	"shasum": {rest: reads, letters: "a"}, "b2sum": {rest: reads}, "cksum": {rest: reads, letters: "a"}, "md5": {rest: reads},
	"diff": {rest: reads, letters: "UCWx", tree: "r"}, "cmp": {rest: reads, letters: "in"}, "comm": {rest: reads},
	"join": {rest: reads, letters: "12jaetov"}, "iconv": {rest: reads, letters: "fto", output: "o output"},
	"zcat": {rest: reads}, "gzcat": {rest: reads}, "xzcat": {rest: reads}, "bzcat": {rest: reads},
	"grep":  {rest: reads, skip: 1, instead: "e f regexp file", letters: "ABCDefmd", longs: "--regexp --file --max-count", input: "f file", tree: "rR"},
	"egrep": {rest: reads, skip: 1, instead: "e f", letters: "ABCDefmd", input: "f", tree: "rR"},
	"fgrep": {rest: reads, skip: 1, instead: "e f", letters: "ABCDefmd", input: "f", tree: "rR"},
	"zgrep": {rest: reads, skip: 1, instead: "e f", letters: "ABCDefmd", input: "f"},
	"rg":    {rest: reads, skip: 1, instead: "e f files", letters: "ABCefgjmMtTEr", longs: "--glob --type --max-count --replace", input: "f", tree: "*"},
	"ag":    {rest: reads, skip: 1, letters: "ABCGm", tree: "*"},
	"jq":    {rest: reads, skip: 1, instead: "f from-file n null-input", letters: "fL", longs: "--from-file", input: "f from-file"},
	"yq":    {rest: reads, skip: 1, letters: "f"},
	"awk":   {rest: reads, skip: 1, instead: "f file", letters: "fFv", longs: "--file", input: "f file"},
	"gawk":  {rest: reads, skip: 1, instead: "f file", letters: "fFv", longs: "--file", input: "f file"},
	"mawk":  {rest: reads, skip: 1, instead: "f", letters: "fFv", input: "f"},

	"rm": {rest: writes, tree: "rR"}, "rmdir": {rest: writes}, "unlink": {rest: writes}, "shred": {rest: writes, letters: "ns"},
	"touch": {rest: writes, letters: "dtr", longs: "--date --reference"}, "mkdir": {rest: writes, letters: "m", longs: "--mode"},
	"mkfifo": {rest: writes, letters: "m"}, "tee": {rest: writes},
	"truncate": {rest: writes, letters: "sr", longs: "--size --reference"},
	"chmod":    {rest: writes, skip: 1, instead: "reference", tree: "R"},
	"chown":    {rest: writes, skip: 1, instead: "reference", tree: "R"},
	"chgrp":    {rest: writes, skip: 1, instead: "reference", tree: "R"},
	"cp":       {rest: reads, last: writes, letters: "tS", longs: "--target-directory --suffix", tree: "rRa"},
	"mv":       {rest: changes, last: writes, letters: "tS", longs: "--target-directory --suffix"},
	"ln":       {last: writes, letters: "tS", longs: "--target-directory --suffix"},
	"install":  {rest: reads, last: writes, letters: "mogtS", longs: "--mode --owner --group --target-directory"},
	"rsync":    {rest: reads, last: writes, letters: "efBTM", longs: "--exclude --include --rsh --exclude-from --filter --files-from", tree: "*"},
	"scp":      {rest: reads, last: writes, letters: "cFiJloPSDX", tree: "r"},

	"ffmpeg": {rest: writes, input: "i", letters: "i"},
	"pandoc": {rest: reads, letters: "fto", longs: "--from --to --output --template", output: "o output"},
	"curl":   {output: "o output D dump-header c cookie-jar", input: "T upload-file K config", letters: curlLetters, longs: curlLongs},
	"wget":   {output: "O output-document o output-file", input: "i input-file", letters: wgetLetters, longs: wgetLongs},
}

// option is one that was given, by its letter or its name.
type option struct {
	name  string
	value *field
}

// parts splits arguments into options and operands.
func parts(args []field, letters, longs string) (options []option, operands []field) {
	for i := 0; i < len(args); i++ {
		text := args[i].prefix()
		switch {
		case args[i].is("--"):
			return options, append(operands, args[i+1:]...)
		case strings.HasPrefix(text, "--"):
			name, _, given := strings.Cut(text[2:], "=")
			o := option{name: name}
			if given {
				value := args[i].from(len("--=") + len(name))
				o.value = &value
			} else if has(longs, text) && i+1 < len(args) {
				i++
				o.value = &args[i]
			}
			options = append(options, o)
		case len(text) > 1 && text[0] == '-':
			var used int
			options, used = cluster(options, args[i:], letters)
			i += used
		default:
			operands = append(operands, args[i])
		}
	}
	return options, operands
}

// cluster reads -xvf FILE or -n5, and returns how many further arguments it
// took.
func cluster(options []option, args []field, letters string) ([]option, int) {
	text := args[0].prefix()
	for i := 1; i < len(text); i++ {
		o := option{name: text[i : i+1]}
		if strings.IndexByte(letters, text[i]) < 0 {
			options = append(options, o)
			continue
		}
		used := 0
		if _, exactly := args[0].literal(); i+1 < len(text) || !exactly {
			value := args[0].from(i + 1)
			o.value = &value
		} else if len(args) > 1 {
			o.value, used = &args[1], 1
		}
		return append(options, o), used
	}
	return options, 0
}

func given(options []option, names string) bool {
	for _, o := range options {
		if has(names, o.name) {
			return true
		}
	}
	return false
}

// files proposes what a command does to the files that it is given.
func (r *reading) files(base string, in invocation) {
	if r.sheet.prose {
		return
	}
	args := in.args[1:]
	switch base {
	case "find":
		r.executes(in)
	case "sed":
		r.sed(in)
	case "dd":
		r.dd(in)
	case "tar", "unzip", "zip", "patch", "mktemp", "xz", "bzip2", "zstd", "sponge", "csplit", "cpio", "7z", "split", "gzip", "gunzip":
		r.unclear(base, in)
	}
	t, ok := fileTools[base]
	if !ok {
		return
	}
	options, operands := parts(args, t.letters, t.longs)
	for _, o := range options {
		if o.value != nil && has(t.input, o.name) {
			r.touch(in.line, capability.FSRead, *o.value, base+" reads", false)
		}
		if o.value != nil && has(t.output, o.name) {
			r.touch(in.line, capability.FSWriteIrrev, *o.value, base+" writes", false)
		}
	}
	r.defaults(base, options, operands, in)
	if !given(options, t.instead) {
		operands = operands[min(t.skip, len(operands)):]
	}
	r.operands(base, t, options, operands, in)
}

// operands gives each its role.
func (r *reading) operands(base string, t fileTool, options []option, operands []field, in invocation) {
	tree := t.tree == "*" || given(options, strings.Join(strings.Split(t.tree, ""), " "))
	if base == "install" && given(options, "d directory") {
		t.rest = writes
	}
	if t.tree == "*" && t.last == nothing && len(operands) == 0 && in.input == nil {
		operands = literals(".")
	}
	into, operands := destination(t, options, operands)
	for i, f := range operands {
		what := t.rest
		if t.last != nothing && into == nil && i == len(operands)-1 && (i > 0 || base == "ln") {
			what = t.last
		}
		if host, _, remote := remotePath(base, f); remote {
			r.egress(in.line, host, "22", base+" connects to "+f.String())
			continue
		}
		if what == reads || what == changes {
			r.touch(in.line, capability.FSRead, f, base+" reads", tree)
		}
		if what == writes || what == changes {
			r.touch(in.line, capability.FSWriteIrrev, f, base+" writes", tree)
		}
	}
	r.intoDirectory(base, into, operands, tree, in)
}

// destination returns the directory that files are copied or moved into, and
// the operands without it.
func destination(t fileTool, options []option, operands []field) (*field, []field) {
	if t.last != writes {
		return nil, operands
	}
	for _, o := range options {
		if o.value != nil && has("t target-directory", o.name) && strings.Contains(t.letters, "t") {
			return o.value, operands
		}
	}
	const two = 2
	if len(operands) < two {
		return nil, operands
	}
	last := operands[len(operands)-1]
	text, _ := last.literal()
	if len(operands) > two || strings.HasSuffix(text, "/") || text == "." || operands[0].many {
		return &last, operands[:len(operands)-1]
	}
	return nil, operands
}

// intoDirectory proposes the names that files get in a directory.
func (r *reading) intoDirectory(base string, into *field, sources []field, tree bool, in invocation) {
	if into == nil {
		return
	}
	for _, source := range sources {
		target := *into
		name := piece{within, "*"}
		if text, ok := source.literal(); ok && path.Base(text) != "." && path.Base(text) != ".." {
			name = piece{exact, path.Base(text)}
		}
		target.pieces = append(append([]piece{}, into.pieces...), piece{exact, "/"}, name)
		r.touch(in.line, capability.FSWriteIrrev, target, base+" writes", tree)
	}
}

// defaults are the files that curl and wget name after the address.
func (r *reading) defaults(base string, options []option, operands []field, in invocation) {
	named := base == "wget" && !given(options, "O output-document spider h help V version") ||
		base == "curl" && given(options, "O remote-name J remote-header-name")
	if named {
		r.sheet.bare(in.line, capability.FSWriteIrrev, commandLine(in), base+" writes a file that is named after the address")
	}
}

// sed reads its operands, and with -i replaces them.
func (r *reading) sed(in invocation) {
	options, operands := parts(in.args[1:], "efl", "--expression --file")
	inPlace := false
	for _, o := range options {
		inPlace = inPlace || o.name == "i" || o.name == "in-place"
	}
	if !given(options, "e f expression file") {
		operands = operands[min(1, len(operands)):]
	}
	for _, f := range operands {
		r.touch(in.line, capability.FSRead, f, "sed reads", false)
		if text, empty := f.literal(); inPlace && !(empty && text == "") {
			r.touch(in.line, capability.FSWriteIrrev, f, "sed -i writes", false)
		}
	}
}

func (r *reading) dd(in invocation) {
	for _, arg := range in.args[1:] {
		name, _, _ := strings.Cut(arg.prefix(), "=")
		switch value := arg.from(len(name) + 1); name {
		case "if":
			r.touch(in.line, capability.FSRead, value, "dd reads", false)
		case "of":
			r.touch(in.line, capability.FSWriteIrrev, value, "dd writes", false)
		}
	}
}

// unclear are commands whose files are named elsewhere: in an archive, in a
// patch, in a directory for temporary files.
func (r *reading) unclear(base string, in invocation) {
	first := ""
	if len(in.args) > 1 {
		first = in.args[1].prefix()
	}
	switch {
	case base == "tar" && !strings.ContainsAny(first, "xcru") && first != "--extract" && first != "--create",
		base == "unzip" && has("-l -t -p -v -Z", first):
		r.sheet.bare(in.line, capability.FSRead, commandLine(in), base+" reads an archive")
	case base == "mktemp":
		r.sheet.bare(in.line, capability.FSWriteIrrev, commandLine(in), "a temporary file, usually outside the working directory")
	default:
		r.sheet.bare(in.line, capability.FSRead, commandLine(in), base+" reads files that the text does not name")
		r.sheet.bare(in.line, capability.FSWriteIrrev, commandLine(in), base+" writes files that the text does not name")
	}
}
