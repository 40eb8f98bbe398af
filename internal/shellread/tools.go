package shellread

import (
	"path"
	"strings"

	"github.com/iff-run/iff/capability"
	"mvdan.cc/sh/v3/syntax"
)

// Tools reads the entries of allowed-tools, the permission rules of Claude
// Code. What an entry allows that no grant can say becomes the bare class.
func Tools(file string, tools []Tool) []Proposal {
	s := newSheet(file)
	for _, t := range tools {
		if text := strings.TrimSpace(t.Text); text != "" {
			s.tool(t.Line, text)
		}
	}
	return s.proposals()
}

func (s *sheet) tool(line int, text string) {
	name, rule, has := strings.Cut(text, "(")
	rule, closed := strings.CutSuffix(rule, ")")
	class := classOf(name)
	why := "allowed-tools: " + show(text)
	switch {
	case has && (!closed || name == ""):
		s.bare(line, class, why, "it does not end with a closing parenthesis, or has no name")
	case class == capability.ToolInvoke:
		s.named(line, name, rule, why)
	case class == capability.NetEgress:
		s.domain(line, strings.TrimSpace(rule), why)
	case class == capability.SpawnProc:
		s.bash(line, strings.TrimSpace(rule), why)
	default:
		s.path(line, class, strings.TrimSpace(rule), why)
	}
}

// classOf returns the class of a tool that the client brings along. Anything
// else is a tool by its name. Case does not matter: a tool named bash is not
// less of a shell.
func classOf(name string) capability.Capability {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "read", "glob", "grep", "ls", "notebookread":
		return capability.FSRead
	case "write", "edit", "multiedit", "notebookedit":
		return capability.FSWriteRev
	case "bash", "shell":
		return capability.SpawnProc
	case "webfetch":
		return capability.NetEgress
	}
	return capability.ToolInvoke
}

// named proposes a tool by its name: all tools of a server where the entry
// names only the server.
func (s *sheet) named(line int, name, rule, why string) {
	name = strings.TrimSpace(name)
	stem, wild := strings.CutSuffix(name, "*")
	odd := strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`,;"'`, r) })
	if odd || stem == "" || strings.ContainsAny(stem, `*\`) {
		s.bare(line, capability.ToolInvoke, why, "not the name of a tool")
		return
	}
	if server, ok := strings.CutPrefix(name, "mcp__"); ok && !wild && !strings.Contains(server, "__") {
		s.ask(line, capability.ToolInvoke, name+"__*", why, "")
		return
	}
	if rule != "" {
		s.ask(line, capability.ToolInvoke, name, why, "a grant cannot say the rule in parentheses")
		return
	}
	s.ask(line, capability.ToolInvoke, name, why, "")
}

func (s *sheet) domain(line int, rule, why string) {
	host, isDomain := strings.CutPrefix(rule, "domain:")
	host = strings.ToLower(strings.TrimSpace(host))
	switch {
	case rule == "" || rule == "*" || isDomain && host == "*":
		s.bare(line, capability.NetEgress, why+": any host, so each asks", "")
	case !isDomain:
		s.bare(line, capability.NetEgress, why, "not domain:HOST")
	default:
		s.ask(line, capability.NetEgress, host, why, "")
	}
}

// path reads the pattern of a rule about files, as far as it means the same
// here.
func (s *sheet) path(line int, class capability.Capability, rule, why string) {
	pattern := strings.TrimPrefix(rule, "./")
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	switch {
	case rule == "" || rule == "*" || rule == "**":
		s.ask(line, class, "**", why, "")
	case strings.HasPrefix(rule, "/") || strings.HasPrefix(rule, "~") || strings.HasPrefix(pattern, "../"):
		s.bare(line, class, why, "outside the working directory")
	case strings.ContainsAny(pattern, `?[]{}!\$<>:`):
		s.bare(line, class, why, "a pattern that a grant cannot say")
	default:
		s.ask(line, class, pattern, why, "")
	}
}

// bash reads the rule of Bash: a command word for word, or the beginning of
// one with :* or * after it.
func (s *sheet) bash(line int, rule, why string) {
	if rule == "" || rule == "*" || rule == ":*" || rule == "**" {
		s.bare(line, capability.SpawnProc, why+": any command, so each asks", "")
		return
	}
	start, rest := strings.CutSuffix(rule, ":*")
	if !rest {
		start, rest = strings.CutSuffix(rule, " *")
	}
	args, problem := simpleCommand(start)
	if problem == "" && rest {
		problem = launches(args)
	}
	if problem != "" {
		s.bare(line, capability.SpawnProc, why, problem)
		return
	}
	if last := args[len(args)-1].pieces; last[len(last)-1].kind == within {
		rest = true // prefixes of a command line, not of a word
	}
	s.ask(line, capability.SpawnProc, argv(args, rest), why, "")
}

// simpleCommand returns the words of a rule, in which only * is not static.
func simpleCommand(text string) ([]field, string) {
	if strings.Contains(text, ":*") {
		return nil, "several rules in one"
	}
	text = maskPlaceholders(text)
	file, _, fault := parse(text, justBash())
	if fault != nil {
		return nil, "it does not parse as a command"
	}
	const several = "not one simple command"
	if len(file.Stmts) != 1 {
		return nil, several
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 || stmt.Negated || stmt.Background {
		return nil, several
	}
	w := words{src: text, prose: true}
	var args []field
	for _, word := range call.Args {
		args = append(args, w.fields(word)...)
	}
	for _, arg := range args {
		for _, p := range arg.pieces {
			_, ours := arg.inSkill()
			if arg.many || !ours && p.kind != exact && p.text != "*" {
				return nil, "not static: " + arg.String()
			}
		}
	}
	if len(args) == 0 || len(args[0].pieces) == 0 {
		return nil, several
	}
	return args, ""
}

// launches says that a rule leaves open which program runs.
func launches(args []field) string {
	name, ok := args[0].literal()
	if !ok {
		return ""
	}
	base := path.Base(name)
	_, language := interpreters[unversioned(base)]
	w, wraps := wrappers[base]
	if !isShell(base) && !language && (!wraps || w.lookup) && !has("npx bunx pnpx uvx pipx find", base) {
		return ""
	}
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg.prefix(), "-") {
			return ""
		}
	}
	return base + " runs any program that it is given"
}
