package approval

import (
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

type wireAnswer struct {
	Approver  string   `json:"approver"`
	Batch     []string `json:"batch"`
	Broker    string   `json:"broker"`
	Cause     string   `json:"cause"`
	Choice    string   `json:"choice"`
	Expires   string   `json:"expires"` // empty for none
	Nonce     string   `json:"nonce"`
	Rule      string   `json:"rule"`
	SameUID   bool     `json:"sameUid"`
	Schema    string   `json:"schema"`
	Signature string   `json:"signature"`
	View      string   `json:"view"`
}

// MarshalJSON is the wire form, canonical JSON. It fails for text that is not
// UTF-8.
func (a Answer) MarshalJSON() ([]byte, error) {
	w := wireAnswer{
		Approver: a.Approver, Batch: []string{}, Broker: a.Broker, Cause: string(a.Cause), Choice: string(a.Choice),
		Nonce: a.Nonce, Rule: a.Rule, SameUID: a.SameUID, Schema: AnswerSchema, Signature: a.Signature, View: a.View.String(),
	}
	if !a.Expires.IsZero() {
		w.Expires = string(record.StampOf(a.Expires))
	}
	for _, i := range a.Batch {
		w.Batch = append(w.Batch, i.String())
	}
	return canonical.Marshal(w)
}

// ParseAnswer reads what [Answer.MarshalJSON] wrote, and no other spelling of
// it. That it can be read says nothing about whether it counts. The error is
// *[Error] with reason approval-wire.
func ParseAnswer(data []byte) (Answer, error) {
	var w wireAnswer
	if err := canonical.Parse(data, &w, canonical.Limits{Bytes: MaxAnswer}); err != nil {
		return Answer{}, &Error{Reason: WireInvalid, Detail: err.Error(), Err: err}
	}
	a, err := w.answer()
	if err != nil {
		return Answer{}, &Error{Reason: WireInvalid, Detail: err.Error(), Err: err}
	}
	if again, err := a.MarshalJSON(); err != nil || string(again) != string(data) || w.Schema != AnswerSchema {
		return Answer{}, refuse(WireInvalid, "the bytes are not the one spelling of an answer; schema is %q", AnswerSchema)
	}
	return a, nil
}

func (w wireAnswer) answer() (Answer, error) {
	a := Answer{
		Choice: record.Choice(w.Choice), Cause: record.Cause(w.Cause), Broker: w.Broker, Rule: w.Rule,
		Approver: w.Approver, Nonce: w.Nonce, Signature: w.Signature, SameUID: w.SameUID,
	}
	view, err := digest(w.View)
	if err != nil {
		return Answer{}, err
	}
	a.View = view
	for _, text := range w.Batch {
		item, err := digest(text)
		if err != nil {
			return Answer{}, err
		}
		a.Batch = append(a.Batch, item)
	}
	if w.Expires == "" {
		return a, nil
	}
	var t time.Time
	if t, err = stamp(w.Expires); err != nil {
		return Answer{}, err
	}
	a.Expires = t
	return a, nil
}
