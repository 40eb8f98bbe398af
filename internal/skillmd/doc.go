// Package skillmd reads SKILL.md files: what an Agent Skills author wrote, how it
// deviates from the specification, and what in it a person reading it would miss.
// It believes nothing: every string of a [Doc] is untrusted text.
//
// # The file
//
// A file is UTF-8 without NUL, at most [MaxBytes] long. It begins with
// frontmatter, a YAML mapping of at most [MaxFrontmatter] bytes between two lines
// "---", and goes on with Markdown. The first line after the opening one that is
// "---" at the left margin ends the frontmatter; an indented one, in a block
// scalar for instance, does not. The frontmatter is exactly one YAML document;
// fields that come twice, keys that are not text, and more than 2,000 values or
// 32 levels once aliases are followed are refused. Merge keys are not followed.
//
// [Parse] is lenient as the specification's client guide asks for. It refuses
// only what leaves nothing to believe, with an [*Error] of one of these reasons:
//
//	skillmd-too-large     the file or its frontmatter is too large
//	skillmd-not-utf8      a byte is not UTF-8
//	skillmd-nul           a NUL, or a value with one
//	frontmatter-missing   the file begins with something else
//	frontmatter-unclosed  no second "---"
//	frontmatter-invalid   not YAML, even repaired, or against the rules above
//	description-missing   no description, or an empty one
//
// Frontmatter that is not YAML is tried once more after a repair: values at the
// left margin that are plain text with ": " inside are quoted, tabs that indent
// become two spaces. If that does not help, the error is the first one.
//
// # Findings
//
// A [Finding] has a class, a kind, and a place. Line and column count from 1,
// columns in characters, not bytes; a byte order mark at the start of the file
// is not counted. Details are escaped by package visible: one line, nothing
// invisible. After [MaxFindings] findings a last one, more-findings, counts the
// others by kind; one of each kind is always among those kept, and hazards
// before the rest.
//
// Deviations from the specification:
//
//	name-missing              the directory's name is taken
//	name-characters           not its own [Slug]
//	name-too-long             more than 64 characters
//	name-directory            not the name of the directory
//	description-too-long      more than 1,024 characters
//	compatibility-too-long    more than 500 characters
//	field-type                not text; its text is taken if it has one
//	metadata-not-text         nested, or numbers; the leaves are taken
//	allowed-tools-commas      entries between commas
//	allowed-tools-unbalanced  a parenthesis without its partner
//	allowed-tools-too-many    more than 256 entries; the others are left out
//	merge-key                 not followed
//	unquoted-value            repaired
//	tab-indent                repaired
//	byte-order-mark           left out
//	delimiter                 blanks behind a "---", blank lines before it
//
// Notes:
//
//	name-not-ascii            small letters, but of another alphabet
//	unknown-field             not in the specification
//	allowed-tools-list        a YAML list, which some clients do not read
//	line-endings              carriage returns
//	body-long                 500 lines or about 5,000 tokens, or more
//	body-empty                no instructions
//
// # Hazards
//
// [Hazards] finds what stands in the text for a model and not for a reader:
//
//	hidden-tag          tag characters, with what they spell
//	bidi-control        embeddings, overrides, isolates; marks outside right-to-left lines
//	zero-width          zero-width and other invisible characters that do not belong
//	variation-selector  selectors that select nothing, with the bytes they can carry
//	private-use         characters without a common meaning
//	control-character   controls other than line ends and tabs, line separators
//	invalid-byte        not UTF-8
//	unassigned          no character, or one newer than our tables (a note)
//	mixed-script        a word of Latin letters and look-alikes of another alphabet
//	look-alike          a word of look-alikes alone in Latin text
//	off-screen          text behind 120 blank columns or 40 blank lines
//	html-comment        <!-- -->, <? ?>, <! >
//	hidden-html         an element with the attribute hidden or a style of display:none,
//	                    visibility:hidden, opacity:0 or font-size:0, or with sentences in
//	                    an attribute; the end of an element like script or template
//	hidden-markdown     a link definition that can be a comment, a long link title, long
//	                    words behind a code fence
//	long-line           more than 2,000 characters (a note)
//	blob                more than 200 characters of base64 (a note)
//
// What belongs where it stands is no hazard: joiners in emoji and in the scripts
// that need them, flags, right-to-left marks in right-to-left lines; package
// visible says which. Russian, Greek, Armenian and Cherokee text is no look-alike
// of Latin: a word is one only if every letter of it is, and the line and the
// text around it are Latin.
//
// HTML comments and elements in code, which a page shows, are notes. So are text
// behind a gap in a table row, a short link title, and a long text for an image.
// Where renderers could disagree on what is code, it counts as not.
//
// A hazard is not an accusation, and its absence no proof: words that say one
// thing to a person and another to a model are beyond this package.
package skillmd
