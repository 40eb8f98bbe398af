package approval

import (
	"crypto/sha256"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

// Question is all that an approver is shown of one request. The zero value is
// none: nothing answers it.
type Question struct {
	Log     string // origin of the log
	Fence   int64  // of the runtime that asks; from 1
	Session string // id
	Request string // id
	Seq     int64  // sequence number of the request record

	Agent    string // principal that asks
	Profile  string
	Envelope capability.Envelope
	Effect   capability.Effect
	Op       string // the host's word for what is done; may be empty

	Reach string          // exact, bounded or opaque; may be empty for a read
	Plan  []corpus.Change // as in the request record
	// Before and After are what is known of the contents, aligned with Plan. They
	// may be empty, and single ones cut.
	Before, After []corpus.Copy

	Skill   record.Skill // the active one; zero outside any skill
	Level   string       // of the session
	Mark    string       // label of all that the session has read
	Sink    string       // label that what it writes to may hold; empty for reads
	Guarded string       // loaded skill or control file that the call reaches for; may be empty
	Novel   bool         // the first with this capability and target
	Doubts  []string     // objects in doubt that the call touches or is next to

	Asked, Deadline time.Time
}

// check says whether q can be answered at all; unwritten is why it cannot be
// written down, if it cannot.
func (q Question) check(unwritten error) error {
	missing := ""
	switch {
	case q.Log == "":
		missing = "log"
	case q.Fence < 1:
		missing = "fence"
	case q.Session == "":
		missing = "session"
	case q.Request == "":
		missing = "request id"
	case q.Seq < 0:
		missing = "sequence number"
	case q.Envelope.IsZero():
		missing = "envelope"
	}
	if missing != "" {
		return refuse(QuestionInvalid, "the question has no %s; ask again", missing)
	}
	if unwritten != nil {
		return &Error{Reason: QuestionInvalid, Detail: "the question cannot be written down: " + unwritten.Error(), Err: unwritten}
	}
	return nil
}

// View is the SHA-256 of [Question.Render].
func (q Question) View() record.Hash { return viewOf(q.Render()) }

func viewOf(rendering string) record.Hash { return sha256.Sum256([]byte(rendering)) }

// Item is the digest by which q stands in what is signed.
func (q Question) Item() record.Hash {
	return itemDigest(q.Session, q.Request, q.Seq, q.Envelope.Hash(), q.View())
}

// item is what stands for one question in what is signed.
type item struct {
	Envelope string `json:"envelope"`
	Request  string `json:"request"`
	Seq      int64  `json:"seq"`
	Session  string `json:"session"`
	View     string `json:"view"`
}

// itemDigest is zero, which nobody signs, if one of the texts is not UTF-8 or
// the number beyond what JSON holds.
func itemDigest(session, request string, seq int64, envelope, view record.Hash) record.Hash {
	form, err := canonical.Marshal(item{envelope.String(), request, seq, session, view.String()})
	if err != nil {
		return record.Hash{}
	}
	return sha256.Sum256(form)
}
