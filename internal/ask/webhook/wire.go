package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const (
	// Schema names the form of a request.
	Schema = "iff/ask/v1"
	// Domain is what a request's signature is about.
	Domain trust.Domain = "iff/webhook/v1\n"
	// Header has the signature.
	Header = "Iff-Signature"
	// ContentType is that of requests and answers.
	ContentType = "application/json"

	scheme = "ed25519"
)

type wireRequest struct {
	Fence     int64           `json:"fence"`
	Log       string          `json:"log"`
	Nonce     string          `json:"nonce"`
	Questions []canonical.Raw `json:"questions"`
	Schema    string          `json:"schema"`
	Sent      string          `json:"sent"`
}

type wireAnswers struct {
	Answers []canonical.Raw `json:"answers"`
}

// Request is what a receiver gets.
type Request struct {
	Log       string
	Fence     int64
	Nonce     string
	Sent      time.Time
	Questions []approval.Question // 1 to 50, all of that log and fence
}

// seal writes and signs a request.
func (b *Broker) seal(forms []canonical.Raw) (body []byte, header string, err error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	body, err = canonical.Marshal(wireRequest{
		Fence: b.options.Fence, Log: b.options.Log, Nonce: approval.Nonce(random), Questions: forms, Schema: Schema,
		Sent: string(record.StampOf(b.options.Now())),
	})
	if err != nil {
		return nil, "", err
	}
	sig, err := trust.Sign(b.options.Key, Domain, body)
	if err != nil {
		return nil, "", err
	}
	text, err := sig.MarshalText()
	return body, scheme + " " + KeyID(b.options.Key.Public()) + ":" + string(text), err
}

// KeyID is how the header names a key: its fingerprint without "SHA256:".
func KeyID(k trust.PublicKey) string { return strings.TrimPrefix(k.Fingerprint(), "SHA256:") }

// Open reads a request for a receiver that knows the key of the runtime. The
// error is *[Error] with webhook-request. Whether the request is from now and the
// nonce did not come before is for the receiver to say.
func Open(key trust.PublicKey, header string, body []byte) (Request, error) {
	if err := signed(key, header, body); err != nil {
		return Request{}, refuse(RequestInvalid, err, "%v", err)
	}
	r, err := open(body)
	if err != nil {
		return Request{}, refuse(RequestInvalid, err, "%v", err)
	}
	return r, nil
}

func signed(key trust.PublicKey, header string, body []byte) error {
	rest, ok := strings.CutPrefix(header, scheme+" ")
	id, text, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return fmt.Errorf("the header %s is not %s KEY:SIGNATURE", Header, scheme)
	}
	if key.IsZero() || id != KeyID(key) {
		return fmt.Errorf("the request is signed with another key than the one that is known; register the key of the runtime")
	}
	var sig trust.Signature
	if err := sig.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	if !trust.Verify(key, Domain, body, sig) {
		return fmt.Errorf("the signature is not over this body")
	}
	return nil
}

func open(body []byte) (Request, error) {
	var w wireRequest
	if err := canonical.Parse(body, &w, canonical.Limits{Bytes: MaxRequest + 1<<10}); err != nil {
		return Request{}, err
	}
	sent, err := time.Parse(time.RFC3339Nano, w.Sent)
	if w.Schema != Schema || err != nil {
		return Request{}, fmt.Errorf("the schema is not %q, or the time sent is none", Schema)
	}
	if len(w.Questions) < 1 || len(w.Questions) > approval.MaxBatch {
		return Request{}, fmt.Errorf("%d questions, not 1 to %d", len(w.Questions), approval.MaxBatch)
	}
	r := Request{Log: w.Log, Fence: w.Fence, Nonce: w.Nonce, Sent: sent.UTC()}
	for i, form := range w.Questions {
		q, err := approval.ParseQuestion([]byte(form.String()))
		if err != nil {
			return Request{}, fmt.Errorf("question %d: %w", i+1, err)
		}
		if q.Log != r.Log || q.Fence != r.Fence {
			return Request{}, fmt.Errorf("question %d is of another runtime", i+1)
		}
		r.Questions = append(r.Questions, q)
	}
	return r, nil
}

// Reply is the body of an answer with status 200: one answer for each question,
// in order. An empty one is no opinion.
func Reply(answers []approval.Answer) ([]byte, error) {
	w := wireAnswers{Answers: []canonical.Raw{}}
	for _, a := range answers {
		if a.Choice != "" || a.Signature != "" {
			a.Cause = record.CauseWebhook
		}
		data, err := a.MarshalJSON()
		if err != nil {
			return nil, err
		}
		form, err := canonical.NewRaw(data, canonical.Limits{Bytes: approval.MaxAnswer})
		if err != nil {
			return nil, err
		}
		w.Answers = append(w.Answers, form)
	}
	return canonical.Marshal(w)
}

// readReply reads what [Reply] wrote, for so many questions.
func readReply(data []byte, n int) ([]approval.Answer, error) {
	var w wireAnswers
	if err := canonical.Parse(data, &w, canonical.Limits{Bytes: MaxAnswers}); err != nil {
		return nil, err
	}
	if len(w.Answers) != n {
		return nil, fmt.Errorf("%d answers to %d questions", len(w.Answers), n)
	}
	out := make([]approval.Answer, n)
	for i, form := range w.Answers {
		var err error
		if out[i], err = approval.ParseAnswer([]byte(form.String())); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pin reads the pin of a public key.
func pin(text string) (sum [32]byte, err error) {
	rest, ok := strings.CutPrefix(text, "sha256/")
	raw, err := base64.StdEncoding.Strict().DecodeString(rest)
	if !ok || err != nil || len(raw) != len(sum) || base64.StdEncoding.EncodeToString(raw) != rest {
		return sum, refuse(OptionsInvalid, err, `the pin is not "sha256/" and the base64 of 32 bytes; docs/webhook.md says how to get it`)
	}
	return [32]byte(raw), nil
}
