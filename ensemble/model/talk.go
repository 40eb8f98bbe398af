package model

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
)

// Bounds of a conversation.
const (
	maxExchanges = 24       // that are kept beside the opening
	maxTalk      = 96 << 10 // bytes of them
	maxSaid      = 4 << 10  // bytes of one text in a call, as it is kept
	maxReply     = 8 << 10  // bytes of a result that are told
	maxMessage   = 1 << 10  // and of a message, or of a grant
	maxAllowed   = 8        // grants that are told
	maxResult    = 8 << 20  // bytes of a result that are looked at
	maxFiles     = 32 << 10 // bytes of the names in the opening
)

// exchange is one turn of the model and what it was told. Roles alternate: some
// endpoints insist.
type exchange struct {
	id    string // of the call, ours; empty if there was none
	tool  string
	args  canonical.Raw
	said  string // in place of a call; ours
	reply string
	bad   bool // the call was not done
}

func (e exchange) size() int { return len(e.tool) + len(e.args.String()) + len(e.said) + len(e.reply) }

// talk is what a model is told. It has no word of the model's own but calls that
// were understood, written anew.
type talk struct {
	system  string
	opening string
	past    []exchange
	pending *exchange // a call whose end is not known yet
	calls   int
}

// begin takes what is to be known from the first turn on.
func (k *talk) begin(role ensemble.Role, t ensemble.Turn) {
	k.system = role.Prompt + " Your tools work on the folder; call one of them each time you are asked, and wait for what comes of it."
	var names strings.Builder
	left := 0
	for _, name := range t.Files {
		line := visible.Escape(name) + "\n"
		if names.Len()+len(line) > maxFiles {
			left++
			continue
		}
		names.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&names, "and %d more\n", left)
	}
	k.opening = fmt.Sprintf("The folder has these files:\n%sYou have %d turns. Begin.", names.String(), t.Rounds)
}

// settle tells what came of the call before.
func (k *talk) settle(last gate.Reply) {
	if k.pending == nil {
		return
	}
	e := *k.pending
	e.reply, e.bad = told(last), last.Status != gate.Done
	k.pending = nil
	k.add(e)
}

// asked keeps a call until its end is known.
func (k *talk) asked(a asked) error {
	form, err := canonical.Marshal(a.args.short())
	if err != nil {
		return err
	}
	args, err := canonical.NewRaw(form, limits())
	if err != nil {
		return err
	}
	k.calls++
	// Nine letters and digits: there are endpoints that take no other id.
	k.pending = &exchange{id: fmt.Sprintf("call%05d", k.calls%100_000), tool: a.tool.name, args: args}
	return nil
}

// nothing keeps a turn without a call.
func (k *talk) nothing() { k.add(exchange{said: "I call no tool.", reply: "Go on."}) }

// mistaken tells a model what was wrong with what it said, in our words.
func (k *talk) mistaken(why *Error) {
	k.add(exchange{said: "(this was no call of a tool)", reply: "That was no call of a tool: " + why.Detail + ". Call one of your tools.", bad: true})
}

// add keeps an exchange; the oldest go.
func (k *talk) add(e exchange) {
	k.past = append(k.past, e)
	size := 0
	for i := len(k.past) - 1; i >= 0; i-- {
		if size += k.past[i].size(); size > maxTalk || len(k.past)-i > maxExchanges {
			k.past = append([]exchange(nil), k.past[i+1:]...)
			return
		}
	}
}

// short is arguments with long texts cut, for what is kept.
func (a arguments) short() arguments {
	for _, p := range []**string{&a.Path, &a.To, &a.Content} {
		if *p != nil {
			s := cut(**p, maxSaid)
			*p = &s
		}
	}
	return a
}

// told is a reply as the model gets it, a denial too. A result that is too long is
// told by its beginning.
func told(r gate.Reply) string {
	form := struct {
		Status    string        `json:"status"`
		Reason    string        `json:"reason,omitzero"`
		Message   string        `json:"message,omitzero"`
		Result    canonical.Raw `json:"result,omitzero"`
		Beginning string        `json:"beginningOfResult,omitzero"`
		Allowed   []string      `json:"allowed,omitempty"`
	}{Status: string(r.Status), Reason: string(r.Reason), Message: cut(r.Message, maxMessage)}
	if r.Status == "" {
		form.Status, form.Message = string(gate.Refused), "there was no answer"
	}
	if raw, err := canonical.NewRaw(r.Result, canonical.Limits{Bytes: maxResult}); err != nil {
		form.Beginning = cut(string(r.Result[:min(len(r.Result), maxResult)]), maxReply)
	} else if form.Result = raw; len(raw.String()) > maxReply {
		form.Result, form.Beginning = canonical.Raw{}, cut(raw.String(), maxReply)
	}
	for _, a := range r.Allowed[:min(len(r.Allowed), maxAllowed)] {
		form.Allowed = append(form.Allowed, cut(a, maxMessage))
	}
	data, err := canonical.Marshal(form)
	if err != nil {
		return form.Status
	}
	return string(data)
}

// cut is the beginning of a text, in whole characters.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "... (cut)"
}
