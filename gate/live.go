package gate

import (
	"context"
	"errors"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// live is what doing a call needs and deciding it does not. Its fields belong to
// the goroutine that drives it, but for those that say g.mu.
type live struct {
	g        *Gate
	session  *Session
	facts    Facts
	call     Call
	env      capability.Envelope
	host     Host
	touches  Touches
	guarded  Guarded
	payload  record.Payload
	sink     string
	level    string // as it was when the call was asked for
	mark     string
	skill    string
	approved Plan // what was asked for
	plan     Plan // under the lease
	readings []corpus.Change
	seq      int64 // of the request record
	question approval.Question
	answer   approval.Answer
	asked    bool
	result   Result
	detail   string
	failed   Reason

	queue   []Command          // g.mu
	running bool               // g.mu
	cancel  context.CancelFunc // g.mu; ends what it waits for
	waiters []chan Reply       // g.mu
	reply   Reply              // g.mu; the last that was told
	message string             // g.mu; for the agent
}

// add queues a command, ends what the call waits for, and drives it if nobody
// does. g.mu is held.
func (l *live) add(c Command) {
	l.queue = append(l.queue, c)
	if l.cancel != nil {
		l.cancel()
	}
	if !l.running {
		l.running = true
		l.g.wg.Go(l.drive)
	}
}

// drive does the commands of the call, one after the other.
func (l *live) drive() {
	for {
		l.g.mu.Lock()
		if len(l.queue) == 0 {
			l.running = false
			l.g.mu.Unlock()
			return
		}
		c := l.queue[0]
		l.queue = l.queue[1:]
		ctx, cancel := context.WithCancel(l.g.ctx)
		if _, waits := c.(Wait); waits || isAsk(c) {
			l.cancel = cancel
			if len(l.queue) > 0 {
				cancel() // what came meanwhile says that there is nothing to wait for
			}
		}
		l.g.mu.Unlock()
		event := l.do(ctx, c)
		cancel()
		l.g.mu.Lock()
		l.cancel = nil
		l.g.mu.Unlock()
		if event != nil {
			l.g.dispatch(event)
		}
	}
}

func isAsk(c Command) bool { _, ok := c.(Ask); return ok }

// do does one command and says what came of it; nil if nothing did, or if it
// will be told later.
func (l *live) do(ctx context.Context, c Command) Event {
	switch c := c.(type) {
	case Preview:
		return l.preview(ctx)
	case Wait:
		return l.wait(ctx)
	case PlanIt:
		return l.planIt(ctx, c)
	case Append:
		return l.append(c)
	case Ask:
		return l.ask(ctx)
	case DoIt:
		return l.act(c)
	case Late:
		l.late(l.answer)
	}
	return nil
}

// tell gives whoever waits for a call its reply. g.mu is held.
func (g *Gate) tell(c Tell) {
	l := g.lives[c.ID]
	if l == nil {
		return
	}
	l.reply = Reply{Request: c.ID, Status: c.Status, Reason: c.Reason, Message: l.message}
	switch c.Status {
	case Done:
		l.reply.Message, l.reply.Result = "", l.result.Data
	case Denied:
		l.reply.Allowed = g.allowed(l.skill)
	}
	g.count(c.Status)
	for _, w := range l.waiters {
		w <- l.reply
	}
	l.waiters = nil
	if !c.Last {
		return
	}
	if l.facts.Key != "" && l.session != nil {
		l.session.replies[c.ID] = l.reply
	}
	delete(g.lives, c.ID)
}

func (g *Gate) count(s Status) {
	switch s {
	case Done:
		g.counts.Done++
	case Denied:
		g.counts.Denied++
	case Refused:
		g.counts.Refused++
	case Failed:
		g.counts.Failed++
	case Doubtful:
		g.counts.InDoubt++
	}
}

func (g *Gate) allowed(subject string) []string {
	return g.machine.rules.Skills[subject].Grants.Strings()
}

// repeat gives the reply of an earlier call with the same key. g.mu is held.
func (g *Gate) repeat(c Repeat) {
	l := g.lives[c.ID]
	if l == nil {
		return
	}
	delete(g.lives, c.ID)
	if first := g.lives[c.Of]; first != nil && first.reply.Status == "" {
		first.waiters = append(first.waiters, l.waiters...)
		return
	} else if first != nil {
		l.answerWith(first.reply)
		return
	}
	l.answerWith(l.session.replies[c.Of])
}

func (l *live) answerWith(r Reply) {
	if r.Status == "" {
		r = Reply{Status: Doubtful, Reason: InDoubt, Message: "an earlier call had this key, and what became of it is not known here"}
	}
	for _, w := range l.waiters {
		w <- r
	}
	l.waiters = nil
}

// append makes the records of a step durable.
func (l *live) append(c Append) Event {
	entries, err := l.entries(c)
	if err == nil {
		var marks []record.Mark
		marks, err = l.g.append(entries...)
		if err == nil && c.What == AskedFor {
			l.seq = marks[0].Seq
		}
	}
	if err != nil {
		l.say("what cannot be recorded is not done: " + err.Error())
	}
	return Appended{ID: l.facts.ID, Failed: err != nil, Fatal: fatal(err)}
}

// fatal says whether the log takes nothing more.
func fatal(err error) bool {
	return err != nil && !errors.Is(err, audit.ErrFull) && !errors.Is(err, record.ErrTooLong) && !errors.Is(err, record.ErrLine)
}

// say sets what the agent is told beside the reason.
func (l *live) say(message string) {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	l.message = message
}
