package home

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/trusttest"
)

// written is text of iff.toml behind what every one has, and whether it is
// taken.
type written struct {
	text string
	ok   bool
	says string // in the error
}

const pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

// cases are about spelling: the schema and the parser see them alike.
func cases() map[string]written {
	const server = "[upstream.files]\ncommand = [\"npx\"]\nlabel = \"PUBLIC\"\n"
	tool := func(text string) string {
		return server + "[[upstream.files.tool]]\nname = \"t\"\n" + text + "\n"
	}
	out := map[string]written{
		"nothing":               {"", true, ""},
		"corpus":                {"[corpus.work]\nroot = \"~/a\"\nlabel = \"PUBLIC\"\nvolatile = [\".git\"]\n[[corpus.work.path]]\npattern = \"b\"\nlabel = \"PUBLIC\"\n", true, ""},
		"gate":                  {"[gate]\nask = \"inbox\"\ntimeout = \"1m30s\"\nbuffer = \"1GiB\"\n", true, ""},
		"nobody":                {"[gate]\nask = \"nobody\"\n", true, ""},
		"chain":                 {"[gate]\nask = [\"policy\", \"webhook\", \"inbox\"]\n[policy]\nfiles = [\"policy.cedar\", \"more/a.cedar\"]\n[webhook]\nurl = \"http://127.0.0.1:80/x\"\n", true, ""},
		"chain of one":          {"[gate]\nask = [\"inbox\"]\n", true, ""},
		"webhook pin":           {"[gate]\nask = [\"webhook\", \"inbox\"]\n[webhook]\nurl = \"https://a.example/b?c=d\"\npin = \"" + pin + "\"\ntimeout = \"5s\"\n", true, ""},
		"webhook ca":            {"[gate]\nask = [\"webhook\", \"inbox\"]\n[webhook]\nurl = \"https://a.example\"\nca = \"~/ca.pem\"\n", true, ""},
		"net":                   {"[[net.host]]\nhost = \"*.example.com:8443\"\nlabel = \"PUBLIC\"\n[[net.host]]\nhost = \"[::2]:*\"\nlabel = \"PUBLIC\"\nprivate = true\n", true, ""},
		"upstream":              {server + "dir = \"~/notes\"\nenv = { NODE_ENV = \"production\" }\nmapping = \"server-filesystem\"\nprefix = \"fs_\"\ntimeout = \"30s\"\n", true, ""},
		"remote upstream":       {"[upstream.a]\nurl = \"https://a.example/mcp\"\ntoken_file = \"/a\"\npin = \"" + pin + "\"\nlabel = \"PUBLIC\"\n", true, ""},
		"bounded tool":          {tool("capability = \"fs.write.irrev\"\ntarget = \"{path}\"\nalso = [\"{destination}\"]\nreach = \"bounded\"\nlabel = \"PUBLIC\""), true, ""},
		"exact tool":            {tool("capability = \"fs.write.irrev\"\ntarget = \"{path}\"\nreach = \"exact\"\nplan = { op = \"write\", content = \"{content}\" }"), true, ""},
		"tool":                  {tool(""), true, ""},
		"tool as shipped":       {tool("capability = \"fs.read\"\ntarget = \"{path}\"\nop = \"list\"\ntakes = [\"\"]\nreads = [\"{other}\"]"), true, ""},
		"operation":             {tool("capability = \"fs.read\"\ntarget = \"{path}\"\nop = \"reed\""), false, "did you mean read?"},
		"tool with a slash":     {server + "[[upstream.files.tool]]\nname = \"a/b\"\n", false, "upstream.files.tool.name"},
		"mcp":                   {"[mcp]\nlisten = \"[::1]:7447\"\nwait = \"50s\"\nidle = \"1m\"\n", true, ""},
		"serve":                 {"[serve]\nconnections = 65536\nagent_dir = \"/run/iff-agents\"\nagents = [\"agent\", \"1001\"]\n", true, ""},
		"guard":                 {"[guard]\nfiles = [\"Makefile\"]\nhome = [\"~/.claude.json#mcpServers,/projects/~1a/mcpServers\", \"/etc/opencode\"]\n", true, ""},
		"ask":                   {"[gate]\nask = \"inbx\"\n", false, "did you mean inbox?"},
		"ask a number":          {"[gate]\nask = 7\n", false, "gate.ask"},
		"ask nobody in a chain": {"[gate]\nask = [\"nobody\"]\n", false, "stands alone"},
		"ask empty":             {"[gate]\nask = []\n", false, "gate.ask"},
		"ask twice":             {"[gate]\nask = [\"inbox\", \"inbox\"]\n", false, "stands there twice"},
		"timeout":               {"[gate]\ntimeout = \"2 minutes\"\n", false, "gate.timeout"},
		"buffer":                {"[gate]\nbuffer = \"64MB\"\n", false, "gate.buffer"},
		"unknown table":         {"[upsteam.a]\ncommand = [\"a\"]\n", false, "did you mean upstream?"},
		"unknown in gate":       {"[gate]\ntimout = \"1m\"\n", false, "did you mean timeout?"},
		"unknown in corpus":     {"[corpus.work]\nroot = \"/a\"\nlable = \"PUBLIC\"\n", false, "did you mean label?"},
		"unknown in tool":       {tool("capabilty = \"fs.read\""), false, "did you mean capability?"},
		"unknown in host":       {"[[net.host]]\nhost = \"a\"\nlabel = \"PUBLIC\"\nlabels = \"PUBLIC\"\n", false, "did you mean label?"},
		"policy above":          {"[policy]\nfiles = [\"../a\"]\n", false, "policy.files"},
		"policy from the root":  {"[policy]\nfiles = [\"/a\"]\n", false, "policy.files"},
		"policy twice":          {"[policy]\nfiles = [\"a\", \"a\"]\n", false, "twice"},
		"webhook nowhere":       {"[webhook]\npin = \"" + pin + "\"\n", false, "webhook.url"},
		"webhook in the clear":  {"[webhook]\nurl = \"http://a.example/\"\n", false, "http is for this machine"},
		"webhook with a user":   {"[webhook]\nurl = \"https://u:p@a.example/\"\nca = \"/a\"\n", false, "webhook.url"},
		"webhook fragment":      {"[webhook]\nurl = \"https://a.example/#a\"\nca = \"/a\"\n", false, "webhook.url"},
		"webhook near-loopback": {"[webhook]\nurl = \"http://127.0.0.1.example.com/\"\n", false, "webhook.url"},
		"pin":                   {"[webhook]\nurl = \"https://a.example/\"\npin = \"sha256/abc\"\n", false, "webhook.pin"},
		"pin of another kind":   {"[webhook]\nurl = \"https://a.example/\"\npin = \"" + strings.Replace(pin, "256", "512", 1) + "\"\n", false, "webhook.pin"},
		"relative ca":           {"[webhook]\nurl = \"https://a.example/\"\nca = \"ca.pem\"\n", false, "webhook.ca"},
		"host as url":           {"[[net.host]]\nhost = \"https://a.example\"\nlabel = \"PUBLIC\"\n", false, "net.host.host"},
		"host in capitals":      {"[[net.host]]\nhost = \"A.example\"\nlabel = \"PUBLIC\"\n", false, "net.host.host"},
		"no host":               {"[[net.host]]\nlabel = \"PUBLIC\"\n", false, "net.host.host"},
		"host without label":    {"[[net.host]]\nhost = \"a.example\"\n", false, "net.host.label"},
		"two ways":              {server + "url = \"https://a.example\"\n", false, "leave one of the two out"},
		"no way":                {"[upstream.files]\nlabel = \"PUBLIC\"\n", false, "name the program"},
		"upstream name":         {"[upstream.my_files]\ncommand = [\"a\"]\nlabel = \"PUBLIC\"\n", false, "no name of an upstream"},
		"no upstream label":     {"[upstream.files]\ncommand = [\"a\"]\n", false, "upstream.files.label"},
		"env name":              {server + "env = { \"A-B\" = \"1\" }\n", false, "upstream.files.env"},
		"env type":              {server + "env = { A = 1 }\n", false, "upstream.files.env"},
		"mapping":               {server + "mapping = \"server-filesytem\"\n", false, "did you mean server-filesystem?"},
		"relay":                 {server + "relay = [\"roots\"]\n", false, "cannot be relayed"},
		"relay twice":           {server + "relay = [\"sampling\", \"sampling\"]\n", false, "there twice"},
		"prefix":                {server + "prefix = \"a b\"\n", false, "upstream.files.prefix"},
		"relative dir":          {server + "dir = \"notes\"\n", false, "upstream.files.dir"},
		"tool without a name":   {server + "[[upstream.files.tool]]\ncapability = \"tool.invoke\"\n", false, "upstream.files.tool.name"},
		"tool name":             {server + "[[upstream.files.tool]]\nname = \"a b\"\n", false, "upstream.files.tool.name"},
		"reversible":            {tool("capability = \"fs.write.rev\"\ntarget = \"{path}\""), false, "write \"fs.write.irrev\""},
		"capability":            {tool("capability = \"fs.raed\"\ntarget = \"{path}\""), false, "upstream.files.tool.capability"},
		"reach":                 {tool("reach = \"exactly\""), false, "upstream.files.tool.reach"},
		"open brace":            {tool("capability = \"fs.read\"\ntarget = \"{path\""), false, "upstream.files.tool.target"},
		"empty brace":           {tool("capability = \"fs.read\"\ntarget = \"a{}\""), false, "upstream.files.tool.target"},
		"nested brace":          {tool("capability = \"fs.read\"\ntarget = \"{a{b}}\""), false, "upstream.files.tool.target"},
		"empty also":            {tool("also = [\"\"]"), false, "upstream.files.tool.also"},
		"listen to everybody":   {"[mcp]\nlisten = \"0.0.0.0:7447\"\n", false, "address of this machine"},
		"listen by name":        {"[mcp]\nlisten = \"localhost:7447\"\n", false, "address of this machine"},
		"listen without port":   {"[mcp]\nlisten = \"127.0.0.1\"\n", false, "mcp.listen"},
		"no connections":        {"[serve]\nconnections = 0\n", false, "serve.connections"},
		"many connections":      {"[serve]\nconnections = 65537\n", false, "serve.connections"},
		"connections as text":   {"[serve]\nconnections = \"9\"\n", false, "serve.connections"},
		"relative agent_dir":    {"[serve]\nagent_dir = \"run\"\nagents = [\"a\"]\n", false, "serve.agent_dir"},
		"user":                  {"[serve]\nagent_dir = \"/run/a\"\nagents = [\"-a\"]\n", false, "no name of a user"},
		"relative control":      {"[guard]\nhome = [\".claude.json\"]\n", false, "guard.home"},
		"control without keys":  {"[guard]\nhome = [\"~/.claude.json#\"]\n", false, "guard.home"},
		"control empty key":     {"[guard]\nhome = [\"~/.claude.json#a,,b\"]\n", false, "guard.home"},
		"control twice":         {"[guard]\nhome = [\"~/a\", \"~/a\"]\n", false, "stands there twice"},
		"profile":               {"", false, "profile"},
	}
	for i := range maxControl + 1 {
		w := out["too many"]
		w.text += fmt.Sprintf("  \"~/%d\",\n", i)
		out["too many"] = w
	}
	out["too many"] = written{"[guard]\nhome = [\n" + out["too many"].text + "]\n", false, "guard.home"}
	return out
}

func TestParserAndSchemaAgree(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	schema := compiled(t)
	for name, c := range cases() {
		data, _ := configWith(t, c.text)
		if name == "profile" {
			data = bytes.Replace(data, []byte(`"dev"`), []byte(`"open"`), 1)
		}
		_, err := parseConfig(data)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the parser: %v", name, err)
		}
		var value map[string]any
		if _, err := toml.Decode(string(data), &value); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := schema.Validate(plainly(value)); (err == nil) != c.ok {
			t.Errorf("%s: the schema: %v", name, err)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(SchemaID, value); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// plainly is a value of TOML as JSON has it.
func plainly(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = plainly(item)
		}
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainly(v[i])
		}
		return out
	case []any:
		for i := range v {
			v[i] = plainly(v[i])
		}
	}
	return v
}

// Every setting has words, and a spelling that the schema knows.
func TestEverySettingIsDescribed(t *testing.T) {
	for _, table := range [][]string{
		nil, {"operator"}, {"log"}, {"log", "anchor"}, {"corpus", "x"}, {"corpus", "x", "path"}, {"gate"}, {"policy"}, {"webhook"}, {"net", "host"},
		{"upstream", "x"}, {"upstream", "x", "tool"}, {"mcp"}, {"serve"}, {"guard"},
	} {
		if len(settingsOf(table)) == 0 {
			t.Errorf("%v has no settings", table)
		}
	}
	if got := settingsOf([]string{"gate", "x"}); got != nil {
		t.Errorf("what is no table has the settings %v", got)
	}
	if !slices.Contains(settingsOf(nil), "upstream") || slices.Contains(settingsOf(nil), "-") {
		t.Error(settingsOf(nil))
	}
}

// What settings say together, and where an error stands.
func TestSettingsThatDoNotGoTogether(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	const server = "[upstream.a]\nlabel = \"PUBLIC\"\n"
	const tool = "command = [\"a\"]\n[[upstream.a.tool]]\nname = \"x\"\n[[upstream.a.tool]]\nname = \"t\"\n"
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"env of a secret":         {"[upstream.files]\ncommand = [\"a\"]\nlabel = \"PUBLIC\"\nenv = { GITHUB_PAT = \"1\" }\n", 3, "GITHUB_PAT looks like a secret"},
		"policy without files":    {"[gate]\nask = [\"policy\", \"inbox\"]\n", 1, "gate.ask: \"policy\" needs [policy]"},
		"policy alone":            {"[gate]\nask = \"policy\"\n[policy]\nfiles = []\n", 1, "gate.ask: \"policy\" needs [policy]"},
		"webhook without table":   {"[gate]\nask = [\"webhook\"]\n", 1, "gate.ask: \"webhook\" needs [webhook]"},
		"inbox first":             {"[gate]\nask = [\"inbox\", \"policy\"]\n[policy]\nfiles = [\"a\"]\n", 1, "put it last"},
		"webhook outlasts":        {"[gate]\nask = \"webhook\"\ntimeout = \"20s\"\n[webhook]\nurl = \"http://[::1]/\"\n", 3, "webhook.timeout: 20s is not shorter than gate.timeout, 20s"},
		"https unpinned":          {"[webhook]\nurl = \"https://a.example\"\n", 0, "webhook.pin: it is missing, and so is ca"},
		"pinned http":             {"[webhook]\nurl = \"http://localhost\"\npin = \"" + pin + "\"\n", 2, "webhook.pin: http has no key"},
		"host twice":              {"[[net.host]]\nhost = \"a\"\nlabel = \"PUBLIC\"\n[[net.host]]\nlabel = \"PUBLIC\"\nhost = \"a\"\n", 5, "net.host.host: \"a\" stands there twice"},
		"agents without a place":  {"[serve]\nagents = [\"a\"]\n", 0, "serve.agent_dir: it is missing"},
		"place without agents":    {"[serve]\nagent_dir = \"/run/a\"\n", 0, "serve.agents: they are missing"},
		"token for a command":     {server + "command = [\"a\"]\ntoken_file = \"/a\"\n", 2, "token_file and pin are for a url"},
		"dir for a url":           {server + "url = \"https://a.example\"\ndir = \"/a\"\n", 0, "dir and env are for a command"},
		"program in a directory":  {server + "command = [\"bin/a\"]\n", 2, "its path from the root"},
		"secret":                  {server + "command = [\"a\"]\nenv = { GITHUB_TOKEN = \"x\" }\n", 3, "upstream.a.env: GITHUB_TOKEN looks like a secret"},
		"same prefix":             {server + "command = [\"a\"]\nprefix = \"p\"\n[upstream.b]\nlabel = \"PUBLIC\"\ncommand = [\"a\"]\nprefix = \"p\"\n", 7, "upstream.b.prefix: \"p\" is that of upstream.a"},
		"tool twice":              {server + tool + "[[upstream.a.tool]]\nname = \"t\"\n", 8, "upstream.a.tool.name: \"t\" stands there twice"},
		"target of tool.invoke":   {server + tool + "target = \"x\"\n", 7, "upstream.a.tool.target: that of tool.invoke"},
		"no target":               {server + tool + "capability = \"fs.read\"\n", 5, "upstream.a.tool.target: it is missing"},
		"exact of no path":        {server + tool + "capability = \"net.egress\"\ntarget = \"{url}\"\nreach = \"exact\"\n", 9, "exact is for fs.read"},
		"exact without plan":      {server + tool + "capability = \"fs.write.irrev\"\ntarget = \"{a}\"\nreach = \"exact\"\n", 5, "upstream.a.tool.plan: it is missing"},
		"plan of what is opaque":  {server + tool + "plan = { op = \"write\" }\n", 7, "upstream.a.tool.plan: only what is exact"},
		"operation of a read":     {server + tool + "capability = \"fs.read\"\ntarget = \"{a}\"\nop = \"write\"\n", 9, "no operation of fs.read"},
		"read that changes":       {server + tool + "capability = \"fs.read\"\ntarget = \"{a}\"\nalso = [\"{b}\"]\n", 9, "fs.read changes nothing"},
		"opaque and named":        {server + tool + "reach = \"opaque\"\nalso = [\"{b}\"]\n", 8, "of what is opaque nothing is observed"},
		"bounded by nothing":      {server + tool + "reach = \"bounded\"\n", 7, "bounded needs paths"},
		"control above the home":  {"[guard]\nhome = [\"~/../x\"]\n", 1, "not below your home directory"},
		"control of everything":   {"[guard]\nhome = [\"/\"]\n", 1, "too much"},
		"control of all the home": {"[guard]\nhome = [\"~/.\"]\n", 1, "not below your home directory"},
	} {
		data, first := configWith(t, c.text)
		_, err := parseConfig(data)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), fmt.Sprintf("line %d:", first+c.line)) {
			t.Errorf("%s: want line %d, %s in: %v", name, first+c.line, c.says, err)
		}
	}
}

func TestReachOfConfig(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	data, _ := configWith(t, `[gate]
ask = ["webhook", "inbox"]
[webhook]
url = "http://127.0.0.1:1/"
[[net.host]]
host = "*.example.com"
label = "PUBLIC"
[[net.host]]
host = "api.example.com"
label = "RESTRICTED"
private = true
[upstream.files]
command = ["/usr/bin/npx", "-y", ""]
label = "PUBLIC"
[[upstream.files.tool]]
name = "a"
[[upstream.files.tool]]
name = "b"
label = "RESTRICTED"
[guard]
home = ["~/.claude.json#mcpServers,/projects/~1a", "/etc/opencode/", "~/a/../.qwen"]
`)
	c, err := parseConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.resolve(trusttest.Scheme("default")); err != nil {
		t.Fatal(err)
	}
	if got := c.Gate.Asked(); got != "webhook, inbox" || !c.Gate.Asks(AskInbox) || c.Gate.Asks(AskPolicy) || c.Webhook.Timeout != 20*time.Second {
		t.Errorf("%s, %+v", got, c.Webhook)
	}
	for host, want := range map[string]string{"www.example.com": "PUBLIC", "api.example.com": "RESTRICTED", "example.com": "", "www.example.com:80": ""} {
		target, err := capability.ParseTarget(capability.NetEgress, host)
		if err != nil {
			t.Fatal(err)
		}
		l, private, known := c.HostLabel(target)
		if known != (want != "") || l.Rank() != want || private != (want == "RESTRICTED") {
			t.Errorf("%s: %s, private %v, known %v", host, l, private, known)
		}
	}
	u := c.Upstreams[0]
	if u.Timeout != 30*time.Second || u.Tools[0].Label != u.Label || u.Tools[1].Label.Rank() != "RESTRICTED" || u.Tools[0].Reach != ReachOpaque || u.Tools[0].Capability != "tool.invoke" {
		t.Errorf("%+v", u)
	}
	want := []ControlFile{
		{"~/.claude.json", "/home/somebody/.claude.json", []string{"mcpServers", "/projects/~1a"}}, {"etc/opencode", "/etc/opencode", nil}, {"~/.qwen", "/home/somebody/.qwen", nil},
	}
	if !reflect.DeepEqual(c.Control, want) {
		t.Errorf("%+v", c.Control)
	}
	if c.MCP != (MCPConfig{"", 50 * time.Second, time.Minute}) || c.Serve.Connections != 1024 {
		t.Errorf("%+v, %+v", c.MCP, c.Serve)
	}
}
