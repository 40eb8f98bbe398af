package shellread

import (
	"strings"

	"github.com/iff-run/iff/capability"
)

const (
	curlLetters = "AbcCdDeEFHhKmoPQrtTuUwxXyYz"
	curlLongs   = `--data --data-raw --data-binary --data-urlencode --json --form --form-string --header --request --user
 --user-agent --output --output-dir --upload-file --max-time --connect-timeout --retry --retry-delay --retry-max-time
 --cookie --cookie-jar --referer --cert --key --cacert --capath --range --write-out --proxy --proxy-user --config
 --dump-header --limit-rate --max-redirs --interface --resolve --connect-to --unix-socket --aws-sigv4 --oauth2-bearer
 --url-query --ciphers --tlsv1 --socks5 --socks5-hostname --socks4 --preproxy --noproxy --doh-url --trace --stderr`
	wgetLetters = "aeioOBtTwQPUAlDXIR"
	wgetLongs   = `--output-document --output-file --input-file --tries --timeout --wait --directory-prefix --user-agent
 --header --post-data --post-file --body-data --method --user --password --accept --reject --level --domains`
)

// netTool is a program that talks to hosts that its arguments name.
type netTool struct {
	letters, longs string
	addresses      string // options whose value is an address too
	diverts        string // options that lead elsewhere
	port           string // of an operand without scheme
	portOption     string
	portOperand    bool // HOST PORT
	only           int  // if not 0, only so many operands are addresses
}

var netTools = map[string]netTool{
	"curl":   {letters: curlLetters, longs: curlLongs, addresses: "url", diverts: "x proxy preproxy socks4 socks5 socks5-hostname connect-to resolve K config unix-socket doh-url", port: "80"},
	"wget":   {letters: wgetLetters, longs: wgetLongs, diverts: "i input-file e execute", port: "80"},
	"http":   {letters: "aAofsp", port: "80", only: 1},
	"https":  {letters: "aAofsp", port: "443", only: 1},
	"xh":     {letters: "aAosp", port: "80", only: 1},
	"aria2c": {letters: "dojsxkiS", port: "80"},
	"yt-dlp": {letters: "ofPSaNR", longs: "--output --format --paths --sub-langs --audio-format --cookies-from-browser", port: "443"},
	"nc":     {letters: "IiOPpqsTVwXx", diverts: "x", port: "", portOperand: true},
	"ncat":   {letters: "cegGhiIkopswx", longs: "--proxy", diverts: "proxy", port: "", portOperand: true},
	"netcat": {letters: "IiOPpqsTVwXx", diverts: "x", port: "", portOperand: true},
	"telnet": {letters: "belnSX", port: "23", portOperand: true},
	"ssh":    {letters: "BbcDEeFIiJLlmOopQRSWw", diverts: "J o F W", port: "22", portOption: "p", only: 1},
	"sftp":   {letters: "BbcDFiJloPRSsX", diverts: "J o F", port: "22", portOption: "P", only: 1},
	"mosh":   {longs: "--ssh --port", letters: "p", port: "22", only: 1},
	"ftp":    {letters: "PpsN", port: "21", only: 1},
}

// talkers are programs that reach hosts which their configuration names, with
// the sub-commands that do; * is any.
var talkers = map[string]string{
	"gh": "*", "glab": "*", "hub": "*", "npx": "*", "pnpx": "*", "bunx": "*", "uvx": "*", "aws": "*", "gcloud": "*", "az": "*",
	"kubectl": "*", "helm": "*", "fly": "*", "flyctl": "*", "vercel": "*", "wrangler": "*", "heroku": "*", "rclone": "*",
	"npm":  "install i ci add update up publish view info search audit login adduser whoami outdated exec x create init",
	"pnpm": "install i add update up publish dlx create audit outdated", "yarn": "install add up upgrade publish dlx create audit",
	"bun": "install i add update x create", "pip": "install download wheel index", "pip3": "install download wheel index",
	"pipx": "install run upgrade inject", "uv": "sync add lock pip tool run", "poetry": "install add update lock publish",
	"conda": "install create update env", "go": "get install mod", "cargo": "install add update fetch publish build test run search",
	"gem": "install update push fetch", "bundle": "install update", "composer": "install require update", "dotnet": "restore tool nuget",
	"docker": "pull push login build compose run buildx", "podman": "pull push login build compose run",
	"brew": "install upgrade update tap search fetch", "apt": "install update upgrade", "apt-get": "install update upgrade dist-upgrade",
	"dnf": "install update upgrade", "yum": "install update", "apk": "add update upgrade", "pacman": "*", "snap": "install refresh",
	"terraform": "init apply plan", "tofu": "init apply plan", "op": "*",
	"ping": "*", "dig": "*", "nslookup": "*", "host": "*", "whois": "*", "nmap": "*", "socat": "*", "mail": "*", "sendmail": "*", "openssl": "s_client",
}

// network proposes the hosts that a command talks to.
func (r *reading) network(base string, in invocation) {
	if base == "git" {
		r.git(in)
		return
	}
	if subs, ok := talkers[base]; ok {
		r.talker(base, subs, in)
		return
	}
	t, ok := netTools[base]
	if !ok {
		return
	}
	options, operands := parts(in.args[1:], t.letters, t.longs)
	port := t.port
	for _, o := range options {
		switch {
		case o.value == nil:
		case has(t.diverts, o.name):
			r.sheet.bare(in.line, capability.NetEgress, commandLine(in), base+" is told to connect elsewhere")
		case has(t.addresses, o.name):
			r.address(base, *o.value, t.port, in)
		case has(t.portOption, o.name):
			port = portOf(*o.value)
		}
	}
	if t.portOperand && given(options, "l listen") {
		r.sheet.bare(in.line, capability.NetEgress, commandLine(in), base+" listens, and talks to whoever connects")
		return
	}
	r.peers(base, t, operands, port, given(options, "V version h help"), in)
}

func portOf(f field) string {
	if text, ok := f.literal(); ok {
		return text
	}
	return "*"
}

// peers reads the operands of a command that connects to them.
func (r *reading) peers(base string, t netTool, operands []field, port string, query bool, in invocation) {
	const two = 2
	switch {
	case len(operands) == 0 && !query:
		r.sheet.bare(in.line, capability.NetEgress, commandLine(in), base+" connects to what the text does not name")
		return
	case t.portOperand && len(operands) >= two:
		port, operands = portOf(operands[1]), operands[:1]
	case t.portOperand && port == "":
		port = "*"
	case t.only > 0:
		operands = operands[:min(t.only, len(operands))]
	}
	for _, f := range operands {
		if base != "ssh" && strings.ToUpper(f.prefix()) == f.prefix() && has("GET POST PUT DELETE PATCH HEAD OPTIONS", f.prefix()) {
			continue
		}
		r.address(base, f, port, in)
	}
}

// talker proposes the class alone: the host is in no text of the skill.
func (r *reading) talker(base, subs string, in invocation) {
	kept, _, _ := subcommand(base, in.args)
	reaches := subs == "*"
	for _, arg := range kept {
		reaches = reaches || has(subs, arg.prefix())
	}
	if reaches && !in.args[len(in.args)-1].is("--version", "--help", "-h") {
		r.sheet.bare(in.line, capability.NetEgress, commandLine(in), "the hosts of "+base+" are not in the text")
	}
}

// git reads the address of a remote where it is given.
func (r *reading) git(in invocation) {
	kept, _, _ := subcommand("git", in.args)
	for _, arg := range kept[1:] {
		if has("clone fetch pull push ls-remote remote submodule archive lfs", arg.prefix()) {
			r.remote(in, in.args[len(kept):], arg.prefix())
			return
		}
	}
}

func (r *reading) remote(in invocation, args []field, sub string) {
	for _, arg := range args {
		text := arg.prefix()
		if host, port, ok := gitHost(text); ok {
			r.egress(in.line, host, port, "git connects to "+arg.String())
			return
		}
	}
	if sub == "remote" && !in.args[len(in.args)-1].is("update") {
		return
	}
	r.sheet.bare(in.line, capability.NetEgress, commandLine(in), "git connects to a remote that the text does not name")
}

// gitHost reads https://host/path and user@host:path.
func gitHost(text string) (host, port string, ok bool) {
	if strings.Contains(text, "://") {
		host, port, problem := hostOf(field{pieces: []piece{{exact, text}}}, "")
		return host, port, problem == ""
	}
	user, rest, at := strings.Cut(text, "@")
	host, _, colon := strings.Cut(rest, ":")
	return host, "22", at && colon && user != "" && !strings.ContainsAny(user+host, "/ ")
}

// remotePath reads host:path of scp and rsync.
func remotePath(base string, f field) (host, port string, ok bool) {
	if base != "scp" && base != "rsync" {
		return "", "", false
	}
	text := f.prefix()
	before, _, found := strings.Cut(text, ":")
	if !found || strings.Contains(before, "/") {
		return "", "", false
	}
	return before[strings.LastIndexByte(before, '@')+1:], "22", true
}

// address proposes the host of a URL, or of HOST[:PORT].
func (r *reading) address(base string, f field, port string, in invocation) {
	host, port, problem := hostOf(f, port)
	if problem != "" {
		r.sheet.bare(in.line, capability.NetEgress, base+" connects to "+f.String(), problem)
		return
	}
	r.egress(in.line, host, port, base+" connects to "+f.String())
}

func (r *reading) egress(line int, host, port, why string) {
	if port != "" && port != "443" {
		host += ":" + port
	}
	r.sheet.ask(line, capability.NetEgress, host, why, "")
}

// hostOf takes the authority out of an address as far as it is exact. Anything
// in it that programs read in different ways is a problem.
func hostOf(f field, port string) (host, portText, problem string) {
	text := f.prefix()
	_, whole := f.literal()
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		rest = text
	} else {
		port = map[string]string{"https": "443", "http": "80", "ftp": "21", "ssh": "22", "git": "9418", "ws": "80", "wss": "443", "git+ssh": "22", "svn": "3690"}[strings.ToLower(scheme)]
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	} else if !whole {
		return "", "", f.unknown() + " is not static"
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host = authority
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		host, port = authority[:i], authority[i+1:]
	}
	bad := strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" && !strings.HasPrefix(host, "[")
	switch {
	case host == "":
		return "", "", "no host in it"
	case bad || strings.Contains(rest, `\`):
		return "", "", "programs may read its host in different ways"
	case port == "":
		return "", "", "its port is not known"
	}
	return strings.TrimSuffix(host, "."), port, ""
}
