package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// Render is what the approver sees: plain text in UTF-8 of at most 512 KiB, the
// same for the same question always. The package documentation says how it
// reads. It holds no control characters but line feeds.
func (q Question) Render() string { return q.render(q.wire()) }

// render is Render for whoever has the wire form, or why there is none.
func (q Question) render(form []byte, unwritten error) string {
	q = q.bounded()
	p := page{room: maxShown}
	p.head(q)
	p.warnings(q)
	p.origin(q)
	p.changes(q)
	p.full("changes")
	p.room += maxArguments
	p.target(q.Envelope.Target().String())
	p.arguments(q)
	p.full("arguments")
	p.identity(q, form, unwritten)
	p.reasoning(q.Envelope.Reasoning())
	return p.b.String()
}

// head says what is to be done to what.
func (p *page) head(q Question) {
	target := q.Envelope.Target()
	class := target.Capability().String()
	act := q.Op
	if act == "" {
		act = class
	}
	act = show(strings.ToUpper(act))
	for i, part := range wrap(act+"  "+quoted(target.String(), maxTarget), width) {
		if i > 0 {
			part = restPrefix + part
		}
		p.b.WriteString(part + "\n")
	}
	if len(target.String()) > maxTarget {
		p.loud("NOT ALL OF THE TARGET IS SHOWN HERE: it has %s, see below", count(len(target.String()), "byte"))
	}
	p.field("effect", effectWords(q.Effect))
	p.field("class", show(class))
	p.field("reach", reachWords(q.Reach))
	labels := "has read " + show(q.Mark)
	if q.Sink != "" {
		labels += ", writes to " + show(q.Sink)
	}
	p.field("labels", labels)
}

func effectWords(e capability.Effect) string {
	switch e {
	case capability.None:
		return "none: it reads"
	case capability.Reversible:
		return "reversible: it can be put back until the session ends"
	}
	return "irreversible: it cannot be taken back"
}

func reachWords(reach string) string {
	switch reach {
	case "exact":
		return "exact: all that it changes is known beforehand, and checked afterwards"
	case "bounded":
		return "bounded: what it changes is known, not to what"
	case "opaque":
		return "opaque: nothing that it changes is observed"
	case "":
		return "none: no change is planned"
	}
	return show(reach)
}

// warnings are what must not be overlooked.
func (p *page) warnings(q Question) {
	if q.Guarded != "" {
		p.loud("GUARDED: what this reaches for tells an agent what to do: %s", show(q.Guarded))
	}
	for i, object := range q.Doubts {
		if i == maxDoubts {
			p.loud("IN DOUBT: %s more", count(len(q.Doubts)-i, "object"))
			break
		}
		p.loud("IN DOUBT: nobody knows what an earlier call did to %s", show(object))
	}
	if q.Novel {
		p.field("new", "the first request here for this class and target")
	} else {
		p.field("known", "this class and target were asked for before")
	}
}

// origin says on whose behalf.
func (p *page) origin(q Question) {
	skill := "outside any skill"
	if s := q.Skill; s != (record.Skill{}) {
		skill = show(s.Name) + " version " + thousands(int(s.Version)) + ", " + show(s.Level) + ", signed by " + show(s.Signer)
	}
	p.field("skill", skill)
	p.field("agent", show(q.Agent)+", session at level "+show(q.Level)+", profile "+show(q.Profile))
}

// identity says which question this is, exactly. The digest covers all that the
// lines above could not show.
func (p *page) identity(q Question, form []byte, unwritten error) {
	p.field("session", show(q.Session))
	p.field("request", show(q.Request)+", record "+thousands(int(q.Seq))+", runtime "+thousands(int(q.Fence)))
	p.field("log", show(q.Log))
	p.field("asked", string(record.StampOf(q.Asked)))
	p.field("until", string(record.StampOf(q.Deadline)))
	envelope := q.Envelope.Hash()
	p.field("envelope", "sha256 "+hex.EncodeToString(envelope[:]))
	if q.Skill.Subject != "" {
		p.field("subject", show(q.Skill.Subject))
	}
	if unwritten != nil {
		p.loud("THIS QUESTION CANNOT BE WRITTEN DOWN and so not be approved: %s", show(unwritten.Error()))
		return
	}
	sum := sha256.Sum256(form)
	p.field("question", "sha256 "+hex.EncodeToString(sum[:]))
}

// reasoning is the agent's own words, at the very end.
func (p *page) reasoning(words string) {
	if words == "" {
		p.b.WriteString("The agent says nothing.\n")
		return
	}
	p.b.WriteString("The agent says (untrusted):\n")
	p.room = maxWords
	shown := visible.Truncate(words, maxReasoning)
	p.block("", shown)
	if shown != words {
		p.own("cut: it says %s in all", count(len(words), "byte"))
	}
}

// target is the whole of one that is too long for the first line.
func (p *page) target(text string) {
	if len(text) > maxTarget {
		p.own("target")
		p.block("", text)
	}
}

// arguments are those of the call, but for contents that the changes show.
func (p *page) arguments(q Question) {
	text := q.Envelope.Arguments()
	if text == "" || text == "{}" {
		return
	}
	p.own("arguments")
	var members map[string]canonical.Raw
	if err := canonical.Parse([]byte(text), &members, canonical.Limits{Bytes: capability.MaxEnvelope}); err != nil {
		p.pretty("", text) // such as one that is null
		return
	}
	for _, name := range sortedKeys(members) {
		value := members[name].String()
		switch s, isText := stringValue(value); {
		case isText && (name == "content" || name == "base64") && q.showsContents():
			p.row("", show(name)+" = "+count(len(s), "byte")+", as shown above")
		case isText && strings.Contains(s, "\n"):
			p.row("", show(name)+" = "+count(len(s), "byte")+" in "+count(len(lines(s)), "line"))
			p.block("  ", s)
		default:
			p.pretty(show(name)+" = ", value)
		}
	}
}

// pretty writes a JSON value on as many lines as it needs.
func (p *page) pretty(name, value string) {
	text := value
	if raw, err := canonical.NewRaw([]byte(value), canonical.Limits{Bytes: capability.MaxEnvelope}); err == nil {
		if out, err := canonical.Pretty(raw); err == nil {
			text = strings.TrimSuffix(string(out), "\n")
		}
	}
	for i, l := range lines(text) {
		if l = strings.TrimSuffix(l, "\n"); i == 0 {
			p.row("", name+line(l))
		} else {
			p.payload("  ", l)
		}
	}
}

func stringValue(value string) (string, bool) {
	var s string
	if !strings.HasPrefix(value, `"`) {
		return "", false
	}
	err := canonical.Parse([]byte(value), &s, canonical.Limits{Bytes: capability.MaxEnvelope})
	return s, err == nil
}
