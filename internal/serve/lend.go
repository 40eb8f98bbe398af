package serve

import (
	"bufio"
	"context"
	"errors"
	"net"
	"time"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
)

// Pending is a call under way.
type Pending interface {
	// Request is its id in the log; empty if it got none.
	Request() string
	// Asked is closed once somebody is asked.
	Asked() <-chan struct{}
	// Done is closed when its end is known.
	Done() <-chan struct{}
	// Reply is how it ended, once Done is closed.
	Reply() gate.Reply
	// Cancel withdraws the question: it is denied. A call that is not being asked goes on.
	Cancel()
}

// Begin implements [AgentSession].
func (s *attached) Begin(c gate.Call) Pending {
	s.calls.Add(1)
	return s.session.Begin(c)
}

// Flows implements [AgentSession].
func (s *attached) Flows(to label.Label) bool { return s.session.Flows(to) }

// Barrier implements [AgentSession].
func (s *attached) Barrier(ctx context.Context) error { return s.owner.runtime.Barrier(ctx) }

// Told is a reply as it is sent, its result left out if it has more than room bytes.
func Told(r gate.Reply, room int) Reply { return replyOf(r, room) }

// FaultOf is what an agent is told of an error of [Agents] or [AgentSession].
func FaultOf(err error) *Fault { return faultOf(err, false) }

// Lines cuts a connection into lines, as the sockets here do: one line at most is held.
type Lines struct{ f *frames }

// Source is where lines come from, such as a net.Conn.
type Source = source

// NewLines takes lines of at most most bytes without their newline. Of a longer one up to skips bytes are thrown away. From its first
// byte on a line may take the time within. Long lines take room.
func NewLines(from Source, most, skips int, within time.Duration, room *Room) *Lines {
	// A thousand connections hold a thousand buffers.
	return &Lines{&frames{from: from, r: bufio.NewReaderSize(from, 4<<10), most: most, skips: skips, within: within, room: room}}
}

// Close gives back the room.
func (l *Lines) Close() { l.f.drop() }

// Next is the next line without its newline, valid until Next or Close is called. The error is a *[Fault] where the line is refused,
// and that of the source otherwise. If it ends, nothing more can be read.
func (l *Lines) Next() (line []byte, ends bool, err error) {
	line, err = l.f.next()
	switch {
	case err == nil:
		return line, false, nil
	case errors.Is(err, errTooLarge):
		if l.f.skipping {
			if err := l.f.skip(); err != nil {
				return l.refused(err)
			}
		}
		return nil, false, tooLong(l.f.most)
	case errors.Is(err, errCrowded):
		return nil, false, crowded()
	}
	return l.refused(err)
}

// refused is what ends the lines.
func (l *Lines) refused(err error) ([]byte, bool, error) {
	switch {
	case errors.Is(err, errFlood):
		return nil, true, flood(l.f.most + l.f.skips)
	case errors.Is(err, errLate):
		return nil, true, lateLine(l.f.within)
	}
	return nil, true, err
}

// Ends are the first and the last bytes of the last line that was too long.
func (l *Lines) Ends() (head, tail []byte) { return l.f.head, l.f.tail }

// Unread is the fault of a request that package canonical refused.
func Unread(err error) *Fault { return unread(err, CodeRequest) }

// Connect connects to a socket of a runtime. The error is an *[Error]; NotRunning if nobody answers.
func Connect(ctx context.Context, path string) (*net.UnixConn, error) { return dial(ctx, path) }
