package gate

import "github.com/iff-run/iff/capability"

// Envelope is the call that the permit is for, so that it can be brought to the
// host that does it. It permits nothing, and does not use the permit up.
func (p *Permit) Envelope() capability.Envelope {
	if p == nil {
		return capability.Envelope{}
	}
	return p.order.Envelope
}
