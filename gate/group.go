package gate

import (
	"context"
	"slices"
	"time"

	"github.com/iff-run/iff/approval"
)

// group is what is put to the broker together: one call, or what a session has
// staged. All of it is g.mu's.
type group struct {
	g       *Gate
	early   time.Duration      // how long before the gate's own limit the questions end
	missing int                // members that have not joined yet
	present int                // members that wait for an answer
	members []*member          // in the order in which they are asked; nil where one has left
	cancel  context.CancelFunc // ends the asking, once it has begun
}

// member is one question of a group.
type member struct {
	question approval.Question
	out      chan answered
}

// answered is what a broker came back with for one question.
type answered struct {
	answer approval.Answer
	ok     bool
}

// lead is how long before the gate gives up a question of several ends: who
// asks for several hears of all of them at once, and so of the answers that came
// in time only when the time of the others is over.
const lead = time.Second

// together lets what one step wants to ask be asked together, as far as one
// signature can answer it. g.mu is held.
func (g *Gate) together(commands []Command) {
	var asks []*live
	for _, c := range commands {
		if a, ok := c.(Ask); ok && g.lives[a.ID] != nil {
			asks = append(asks, g.lives[a.ID])
		}
	}
	for part := range slices.Chunk(asks, approval.MaxBatch) {
		gr := g.newGroup(len(part))
		for i, l := range part {
			l.group, l.slot = gr, i
		}
	}
}

func (g *Gate) newGroup(size int) *group {
	gr := &group{g: g, missing: size, members: make([]*member, size)}
	if size > 1 {
		gr.early = min(lead, g.limits.Ask/10)
	}
	return gr
}

// join adds a question in its place. The last one puts all of them.
func (gr *group) join(slot int, q approval.Question) *member {
	m := &member{q, make(chan answered, 1)}
	gr.g.mu.Lock()
	defer gr.g.mu.Unlock()
	gr.members[slot] = m
	gr.present++
	if gr.missing--; gr.missing == 0 {
		gr.put()
	}
	return m
}

// leave says that nobody waits for an answer any more.
func (gr *group) leave(m *member) {
	gr.g.mu.Lock()
	defer gr.g.mu.Unlock()
	gr.present--
	switch {
	case gr.cancel == nil: // it is not asked at all
		gr.members[slices.Index(gr.members, m)] = nil
		m.out <- answered{}
	case gr.present == 0:
		gr.cancel()
	}
}

// put asks the broker. g.mu is held.
func (gr *group) put() {
	g, members := gr.g, slices.DeleteFunc(gr.members, func(m *member) bool { return m == nil })
	ctx, cancel := context.WithTimeout(g.ctx, g.limits.Ask-gr.early)
	gr.cancel = cancel
	g.crew.run(func() {
		defer cancel()
		qs := make([]approval.Question, len(members))
		for i, m := range members {
			qs[i] = m.question
		}
		answers, err := calm(func() ([]approval.Answer, error) { return g.parts.Broker.Ask(ctx, qs) })
		for i, m := range members {
			var a answered
			if err == nil && len(answers) == len(members) {
				a = answered{answers[i], true}
			}
			m.out <- a
		}
	})
}
