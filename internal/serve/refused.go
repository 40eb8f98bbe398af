package serve

import (
	"fmt"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// note has the log say that a message of an agent was refused. What an operator sends is not the log's matter.
func (c *conn) note(reason string) {
	p := c.plane
	if p.trusted {
		return
	}
	what := Refusal{Principal: c.peer.Principal(), Session: c.sessionID, Channel: p.channel(), Reason: reason}
	if reason == string(PeerUnknown) {
		what.Principal = ""
	}
	if err := p.server.opts.Agents.Refused(what); err != nil {
		p.server.report(fmt.Errorf("a refusal of %s: %w", c.peer.Principal(), err))
	}
}

// noteAnswer has the log say it of a request that was answered without a call: with an error, or as a call that the gate took no notice
// of, such as one of a session that was stopped. What is denied has records of its own.
func (c *conn) noteAnswer(result any, err error) {
	if err != nil {
		c.note(faultOf(err, false).Reason)
	} else if r, ok := result.(Reply); ok && r.Status == string(gate.Refused) {
		c.note(r.Reason)
	}
}

func (p *plane) channel() record.Channel {
	if p.hand != nil {
		return record.ChannelMCP
	}
	return record.ChannelAgent
}

// Refused implements [Agents].
func (a *Attachment) Refused(r Refusal) error {
	return a.runtime.NoteRefused(iff.Principal(r.Principal), r.Session, r.Channel, r.Reason)
}
