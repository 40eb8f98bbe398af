// Package receiver is the other end of iff's webhook: it takes questions that a
// runtime signed, has them decided, and answers with an approver's signature. The
// two example programs are made of it; docs/webhook.md says how they are run.
//
// Only a program of this module can import it, for it uses iff's own reader of
// the wire forms. What it does is little: verify one Ed25519 signature, make the
// rendering of each question, and sign as package approval documents.
package receiver

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const (
	maxAge    = 2 * time.Minute // between sending a request and taking it
	maxNonces = 10_000          // that are remembered, for twice as long
	maxBody   = webhook.MaxRequest + 1<<10
)

// Receiver answers the requests of one runtime. Its fields are set before it
// serves. It is safe for concurrent use.
type Receiver struct {
	Runtime  trust.PublicKey // of the key with which the runtime signs
	Approver string          // id in the runtime's trust root
	Signer   trust.Signer    // of the approver
	// Decide says what to answer to a question; no choice is no opinion. It is
	// called for the questions of a request at once.
	Decide func(ctx context.Context, q approval.Question) record.Choice
	Now    func() time.Time // the clock
	Log    func(line string)

	mu   sync.Mutex
	seen map[string]time.Time // nonces, by when they came; guarded by mu
}

// ServeHTTP answers one request.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		r.refuse(w, http.StatusMethodNotAllowed, "use POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		r.refuse(w, http.StatusRequestEntityTooLarge, "the body cannot be read")
		return
	}
	in, err := webhook.Open(r.Runtime, req.Header.Get(webhook.Header), body)
	if err == nil {
		err = r.fresh(in)
	}
	if err != nil {
		r.refuse(w, http.StatusForbidden, err.Error())
		return
	}
	reply, err := r.reply(req.Context(), in.Questions)
	switch {
	case err != nil:
		r.refuse(w, http.StatusInternalServerError, err.Error())
	case reply == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", webhook.ContentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		_, _ = w.Write(reply) // who went away counts it as a denial
	}
}

func (r *Receiver) refuse(w http.ResponseWriter, status int, why string) {
	r.log("refused: " + why)
	http.Error(w, why, status)
}

func (r *Receiver) log(line string) {
	if r.Log != nil {
		r.Log(line)
	}
}

// fresh refuses a request that is old, or came before.
func (r *Receiver) fresh(in webhook.Request) error {
	now := r.Now()
	if age := now.Sub(in.Sent); age > maxAge || age < -maxAge {
		return fmt.Errorf("the request was sent at %s; look at both clocks", in.Sent)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for nonce, at := range r.seen {
		if now.Sub(at) > 2*maxAge {
			delete(r.seen, nonce)
		}
	}
	if _, again := r.seen[in.Nonce]; again || len(r.seen) >= maxNonces {
		return fmt.Errorf("the request came before, or too many come")
	}
	if r.seen == nil {
		r.seen = map[string]time.Time{}
	}
	r.seen[in.Nonce] = now
	return nil
}

// reply decides all questions and signs what was decided; nil is no opinion on
// any.
func (r *Receiver) reply(ctx context.Context, qs []approval.Question) ([]byte, error) {
	choices := make([]record.Choice, len(qs))
	var wg sync.WaitGroup
	for i, q := range qs {
		wg.Go(func() { choices[i] = r.Decide(ctx, q) })
	}
	wg.Wait()
	answers := make([]approval.Answer, len(qs))
	some := false
	for _, choice := range []record.Choice{record.Approve, record.Deny} {
		var same []approval.Question
		var places []int
		for i, c := range choices {
			if c == choice {
				same, places = append(same, qs[i]), append(places, i)
			}
		}
		if len(same) == 0 {
			continue
		}
		some = true
		signed, err := r.sign(same, choice)
		if err != nil {
			return nil, err
		}
		for i, at := range places {
			answers[at] = signed[i]
			r.log(fmt.Sprintf("%s %s %s", choice, qs[at].Request, qs[at].Envelope.Target()))
		}
	}
	if !some {
		return nil, nil
	}
	return webhook.Reply(answers)
}

// sign answers questions with one signature.
func (r *Receiver) sign(qs []approval.Question, choice record.Choice) ([]approval.Answer, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return approval.Sign(qs, choice, r.Approver, r.Signer, approval.Nonce(random), r.Now().Add(approval.Validity))
}
