package broker

import (
	"context"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// DenyAll denies everything, at once, with cause broker: there is nobody to ask.
// The zero value is ready and safe for concurrent use.
type DenyAll struct{}

// denyAll is what records call it.
const denyAll = "deny-all"

// Name is the name of the broker in records.
func (DenyAll) Name() string { return denyAll }

// Ask answers each question with a denial. It never fails.
func (DenyAll) Ask(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	out := make([]approval.Answer, len(qs))
	for i := range out {
		out[i] = approval.Answer{Choice: record.Deny, Cause: record.CauseBroker, Broker: denyAll}
	}
	return out, nil
}
