package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// policyVectors are texts that are read or refused, questions that they decide,
// and what Cedar is told of a question.
func policyVectors() []vector {
	return append(append(readVectors(), decideVectors()...), factVectors()...)
}

// aPolicy has a rule of each sort. Where it is read, its rules are in these lines.
const aPolicy = `@id("old-reports")
permit (principal, action == Action::"fs.write.irrev", resource in Path::"reports/old")
when { context.op == "delete" };
permit (principal, action == Action::"net.egress", resource in Domain::"example.com")
when { resource.port == 443 && context.method == "GET" };
permit (principal, action == Action::"pay", resource)
when { resource.unit == "usd" && resource.value.lessThanOrEqual(decimal("20.0")) };
permit (principal, action == Action::"spawn.proc", resource)
when { resource.line like "git log *" } unless { resource.args.contains("--output") };
permit (principal == Agent::"uid-1000", action == Action::"tool.invoke", resource == Tool::"github/get_issue");
forbid (principal, action in Action::"irreversible", resource) when { context.skill == "untrusted" };
@id("secrets")
forbid (principal, action, resource in Path::"secrets");
forbid (principal, action == Action::"net.egress", resource) when { resource has address };
permit (principal, action == Action::"publish", resource == Name::"news");
forbid (principal, action == Action::"publish", resource) when { context.size * 9223372036854775807 > 0 };`

func policyVector(kind, expect, name, comment, payload string) vector {
	return vector{name: expect + "-" + name, expect: expect, comment: comment, payload: []byte(payload)}.with("kind", kind)
}

// notRead is a text that is not read, and the line of the rule at fault.
func notRead(expect, name, comment string, line int, text string) vector {
	v := policyVector("read", expect, name, comment, text)
	if line > 0 {
		v = v.with("line", fmt.Sprint(line))
	}
	return v
}

func readVectors() []vector {
	irrev := func(when string) string {
		return `permit (principal, action == Action::"fs.write.irrev", resource) when { ` + when + ` };`
	}
	const net = `permit (principal, action == Action::"net.egress", resource) when { `
	return []vector{
		policyVector("read", "ok", "all", "a rule of each sort", aPolicy).with("rules", `["p.cedar:1 old-reports","p.cedar:4","p.cedar:6","p.cedar:8","p.cedar:10","p.cedar:11","p.cedar:12 secrets","p.cedar:14","p.cedar:15","p.cedar:16"]`),
		policyVector("read", "ok", "reversible", "what is reversible may be permitted anywhere", `permit (principal, action in [Action::"none", Action::"reversible"], resource);`).with("rules", `["p.cedar:1"]`),
		policyVector("read", "ok", "forbid", "everything may be forbidden", `forbid (principal, action, resource);`).with("rules", `["p.cedar:1"]`),
		policyVector("read", "ok", "directory", "a pattern that begins with a directory ties the target", irrev(`resource.path like "tmp/*"`)).with("rules", `["p.cedar:1"]`),
		notRead("policy-syntax", "cut", "the last semicolon is missing", 1, `forbid (principal, action, resource)`),
		notRead("policy-schema", "attribute", "an attribute that the context does not have", 2, "forbid (principal, action, resource);\n"+irrev(`context.levle == "declared"`)),
		notRead("policy-schema", "optional", "an address is read without asking whether there is one", 1, net+`resource.address.isLoopback() };`),
		notRead("policy-literal", "path", "an absolute path is no target", 1, `forbid (principal, action, resource in Path::"/etc");`),
		notRead("policy-literal", "level", "a level that there is not", 1, `forbid (principal, action, resource) when { context.level == Level::"trusted" };`),
		notRead("policy-literal", "pattern", "a pattern that no path is like", 1, irrev(`resource.path like "/etc/*"`)),
		notRead("policy-wildcard", "everything", "everything", 1, `permit (principal, action, resource);`),
		notRead("policy-wildcard", "group", "a whole group of actions", 1, `permit (principal, action in Action::"irreversible", resource is Tool);`),
		notRead("policy-wildcard", "skill", "the skill ties no target", 1, irrev(`context.skill == "web"`)),
		notRead("policy-wildcard", "or", "one of two ways ties no target", 2, irrev(`resource in Path::"tmp"`)+"\n"+irrev(`resource in Path::"tmp" || context.size < 10`)),
		notRead("policy-wildcard", "not", "all but one target", 1, irrev(`resource.path != "tmp/a"`)),
		notRead("policy-wildcard", "corpus", "the root of a corpus is all of it", 1, `permit (principal, action == Action::"fs.write.irrev", resource in Path::".");`),
		notRead("policy-wildcard", "suffix", "an end of names that does not begin with a dot", 1, net+`resource.name like "*example.com" };`),
		notRead("policy-wildcard", "amount", "a unit without an upper limit", 1, `permit (principal, action == Action::"pay", resource) when { resource.unit == "usd" };`),
		notRead("policy-wildcard", "forbid", "a forbid beside it ties nothing", 1, `permit (principal, action == Action::"publish", resource);`+"\n"+`forbid (principal, action == Action::"publish", resource) unless { resource.name == "news" };`),
		notRead("policy-wildcard", "together", "each permit ties two letters, and together they are all names", 1, twoLetters()),
		notRead("policy-too-large", "brackets", "49 brackets", 1, irrev(strings.Repeat("(", 48)+"true"+strings.Repeat(")", 48))),
		notRead("policy-id", "form", "an identifier with a space", 1, `@id("two words")`+"\n"+`forbid (principal, action, resource);`),
		notRead("policy-id", "twice", "two rules of one identifier", 2, `@id("a") forbid (principal, action, resource);`+"\n"+`@id("a") forbid (principal, action, resource);`),
		notRead("policy-file-name", "colon", "a name with a colon", 0, `forbid (principal, action, resource);`).with("file", "p:cedar"),
	}
}

// twoLetters is a permit for each beginning of names.
func twoLetters() string {
	const all = "abcdefghijklmnopqrstuvwxyz"
	var out []string
	for _, a := range all {
		var ways []string
		for _, b := range all + "0123456789" {
			ways = append(ways, fmt.Sprintf(`resource.name like "%c%c*"`, a, b))
		}
		out = append(out, `permit (principal, action == Action::"tool.invoke", resource) when { `+strings.Join(ways, " || ")+` };`)
	}
	return strings.Join(out, " ")
}

// asked is a question of a declared skill, in profile strict.
func asked(token, target, arguments string, edits ...func(q *approval.Question)) approval.Question {
	c := must(capability.Parse(token))
	at := must(capability.ParseTarget(c, target))
	e := must(capability.NewEnvelope(capability.Call{Target: at, Arguments: []byte(arguments), Reasoning: "to show it"}))
	q := approval.Question{
		Log: logOrigin, Fence: 1, Session: "s1", Request: "c1", Seq: 3, Agent: "uid-1000", Profile: "strict", Envelope: e, Effect: c.Effect(),
		Level: "declared", Mark: "PUBLIC", Sink: "PUBLIC", Asked: trusttest.Now, Deadline: trusttest.Now.Add(time.Minute),
		Skill: record.Skill{Name: "reports", Version: 3, Signer: "ops", Level: "declared"},
	}
	if name, path, ok := at.Path(); ok && c.Effect() != capability.None {
		q.Plan = []corpus.Change{{Object: corpus.Name(name, path), Before: someState, After: corpus.Absent}}
	}
	for _, edit := range edits {
		edit(&q)
	}
	return q
}

const someState corpus.State = "1111111111111111111111111111111111111111111111111111111111111111"

func decided(expect, name, comment, rule string, q approval.Question) vector {
	v := policyVector("decide", expect, name, comment, string(must(q.MarshalJSON()))+"\n"+aPolicy)
	if rule != "" {
		v = v.with("rule", rule)
	}
	return v
}

func decideVectors() []vector {
	const remove, get = `{"op":"delete"}`, `{"method":"GET"}`
	file := func(target string, edits ...func(q *approval.Question)) approval.Question {
		return asked("fs.write.irrev", target, remove, edits...)
	}
	and := func(object corpus.Object) func(q *approval.Question) {
		return func(q *approval.Question) {
			q.Plan = append(q.Plan, corpus.Change{Object: object, Before: corpus.Absent, After: someState})
		}
	}
	return []vector{
		decided("approve", "file", "a permit matches", "p.cedar:1 old-reports", file("reports/old/a.md")),
		decided("approve", "directory", "a directory is in itself", "p.cedar:1 old-reports", file("reports/old")),
		decided("approve", "both", "each object of a rename is permitted", "p.cedar:1 old-reports", file("reports/old/a.md", and("work/reports/old/b.md"))),
		decided("approve", "subdomain", "a host is in the domains above it", "p.cedar:4", asked("net.egress", "api.example.com", get)),
		decided("approve", "amount", "as much as the limit", "p.cedar:6", asked("pay", "usd,20", `{}`)),
		decided("approve", "command", "a command line", "p.cedar:8", asked("spawn.proc", "git log -3", `{}`)),
		decided("approve", "tool", "a tool, of the agent that may", "p.cedar:10", asked("tool.invoke", "github/get_issue", `{}`)),
		decided("deny", "skill", "a forbid matches beside a permit", "p.cedar:11", file("reports/old/a.md", func(q *approval.Question) { q.Skill.Name = "untrusted" })),
		decided("deny", "read", "a forbid of everything in a directory", "p.cedar:12 secrets", asked("fs.read", "secrets/a", `{}`)),
		decided("deny", "second", "the second object of a rename is forbidden", "p.cedar:12 secrets", file("reports/old/a.md", and("work/secrets/a"))),
		decided("deny", "address", "an address has the attribute address", "p.cedar:14", asked("net.egress", "[::1]", get)),
		decided("deny", "overflow", "a forbid cannot be evaluated, and a permit matches", "error p.cedar:16", asked("publish", "news", `{}`)),
		decided("deny", "digits", "an amount with more digits than Cedar has", "error", asked("pay", "usd,0.00001", `{}`)),
		decided("deny", "unknown", "a level that there is not", "error", file("reports/old/a.md", func(q *approval.Question) { q.Level = "trusted" })),
		decided("pass", "none", "no rule matches", "", asked("fs.write.irrev", "reports/older/a.md", remove)),
		decided("pass", "corpus", "the same path in another corpus", "", file("other:reports/old/a.md")),
		decided("pass", "argument", "another argument than the rule wants", "", asked("fs.write.irrev", "reports/old/a.md", `{"op":["delete"]}`)),
		decided("pass", "second", "the second object of a rename is nobody's", "", file("reports/old/a.md", and("work/src/a"))),
		decided("pass", "label", "a name that ends in the domain's letters", "", asked("net.egress", "evilexample.com", get)),
		decided("pass", "amount", "more than the limit", "", asked("pay", "usd,20.0001", `{}`)),
		decided("pass", "agent", "another agent", "", asked("tool.invoke", "github/get_issue", `{}`, func(q *approval.Question) { q.Agent = "uid-1001" })),
		decided("pass", "guarded", "what is guarded no policy approves", "p.cedar:1 old-reports", file("reports/old/a.md", func(q *approval.Question) { q.Guarded = "AGENTS.md" })),
		decided("pass", "unverified", "outside of profile dev no policy approves for an unverified skill", "p.cedar:1 old-reports", file("reports/old/a.md", func(q *approval.Question) { q.Skill.Level = "unverified" })),
		decided("pass", "session", "nor in an unverified session", "p.cedar:1 old-reports", file("reports/old/a.md", func(q *approval.Question) { q.Level = "unverified" })),
	}
}

// factVectors say what Cedar is told of a question.
func factVectors() []vector {
	of := func(name, comment string, q approval.Question, resource string) vector {
		facts := fmt.Sprintf(`{"action":"Action::\"%s\"",`+contextFacts+`,"principal":"Agent::\"uid-1000\"",%s}`,
			q.Envelope.Target().Capability(), len(q.Plan), len(q.Plan), len(q.Envelope.Arguments()), resource)
		return policyVector("facts", "ok", "facts-"+name, comment, string(must(q.MarshalJSON()))).with("facts", facts)
	}
	return []vector{
		of("path", "a file in another corpus", asked("fs.write.irrev", "other:reports/a.md", `{}`), `"resource":"Path::\"other:reports/a.md\"","resource.corpus":"\"other\"","resource.name":"\"a.md\"","resource.path":"\"reports/a.md\""`),
		of("host", "a host with a port", asked("net.egress", "api.example.com:8443", `{}`), `"resource":"Host::\"api.example.com:8443\"","resource.name":"\"api.example.com\"","resource.port":"8443"`),
		of("address", "an address without a port", asked("net.egress", "10.0.0.1", `{}`), `"resource":"Host::\"10.0.0.1\"","resource.address":"ip(\"10.0.0.1\")","resource.name":"\"10.0.0.1\"","resource.port":"443"`),
		of("tool", "a tool of an upstream server", asked("tool.invoke", "github/get_issue", `{}`), `"resource":"Tool::\"github/get_issue\"","resource.name":"\"get_issue\"","resource.server":"\"github\""`),
		of("name", "a channel", asked("publish", "slack:#news", `{}`), `"resource":"Name::\"slack:#news\"","resource.name":"\"slack:#news\""`),
		of("argv", "a command line", asked("spawn.proc", "git log", `{}`), `"resource":"Argv::\"git log\"","resource.args":"[\"log\"]","resource.count":"1","resource.line":"\"git log\"","resource.program":"\"git\""`),
		of("amount", "an amount of money", asked("pay", "usd,20", `{}`), `"resource":"Amount::\"usd,20\"","resource.unit":"\"usd\"","resource.value":"decimal(\"20.0\")"`),
	}
}

// contextFacts are those of the context: how many changes, of them deletions, and
// bytes of arguments there are, and what is the same in all.
const contextFacts = `"context.changes":"%d","context.creates":"0","context.deletes":"%d","context.guarded":"false","context.level":"Level::\"declared\"","context.mark":"\"PUBLIC\"","context.method":"\"\"","context.op":"\"\"","context.profile":"Profile::\"strict\"","context.signer":"\"ops\"","context.sink":"\"PUBLIC\"","context.size":"%d","context.skill":"\"reports\"","context.skillLevel":"Level::\"declared\"","context.skillVersion":"3","context.unknown":"0","context.via":"\"\""`
