package anchor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/visible"
)

// witnessAnchor is an anchor that is a C2SP witness.
type witnessAnchor struct {
	*base
	key    note.Verifier
	client *client
}

func openWitness(spec Spec, b *base) (Anchor, error) {
	b.name = visible.Escape(spec.Place)
	key, err := parseKey(spec.Key)
	if err != nil {
		return nil, b.fail(PlaceInvalid, err, "the key of the witness cannot be used: %v; copy it again from the witness's page", err)
	}
	c, err := newClient(spec.Place)
	if err != nil {
		return nil, b.fail(PlaceInvalid, err, "the address cannot be used: %v; write it so: https://witness.example", err)
	}
	b.name = key.Name()
	return &witnessAnchor{base: b, key: key, client: c}, nil
}

// Put has the witness cosign a checkpoint.
func (w *witnessAnchor) Put(ctx context.Context, checkpoint []byte, extend Extend) error {
	w.putting.Lock()
	defer w.putting.Unlock()
	defer w.client.rest()
	if w.broken != nil {
		return w.broken
	}
	return w.remember(w.put(ctx, checkpoint, extend), w.key)
}

func (w *witnessAnchor) put(ctx context.Context, checkpoint []byte, extend Extend) error {
	given, err := w.opened("what was handed in", checkpoint, nil)
	if err != nil {
		return err
	}
	before, _, err := w.kept(w.key)
	if err != nil {
		return err
	}
	proof, err := w.follow(ctx, before, given, extend)
	if err != nil {
		return err
	}
	r, err := w.send(ctx, before.size, proof, given)
	if err != nil {
		return err
	}
	if r.status == http.StatusConflict {
		if r, err = w.again(ctx, r, before, given, extend); err != nil {
			return err
		}
	}
	cosigned, err := w.accept(ctx, r, given, extend)
	if err != nil {
		return err
	}
	return w.keep(cosigned)
}

// again sends the checkpoint once more after the witness said that it stands at another size than before.
func (w *witnessAnchor) again(ctx context.Context, r reply, before, given head, extend Extend) (reply, error) {
	stands, err := w.conflict(ctx, r, before.size, before, given, extend)
	if err != nil {
		return reply{}, err
	}
	var proof []tlog.Hash
	if stands > 0 && stands < given.size {
		if proof, err = w.prove(ctx, extend, stands); err != nil {
			return reply{}, err
		}
	}
	r, err = w.send(ctx, stands, proof, given)
	if err != nil || r.status != http.StatusConflict {
		return r, err
	}
	if _, err := w.conflict(ctx, r, stands, before, given, extend); err != nil {
		return reply{}, err
	}
	return reply{}, w.fail(Refused, nil, "it named another size twice; another checkpoint of this log is on its way to it, try again later")
}

// conflict reads where a witness stands, and refuses what contradicts the log, or what the witness said before.
func (w *witnessAnchor) conflict(ctx context.Context, r reply, sent int64, before, given head, extend Extend) (int64, error) {
	stands, err := parseStands(r)
	switch {
	case err != nil:
		return 0, w.fail(Invalid, err, "its answer cannot be used: %v; ask its operator", err)
	case stands > given.size:
		claim := w.fail(Rollback, nil, "it has cosigned size %d and the log offers size %d: the log was cut back; compare it with a copy", stands, given.size)
		return 0, w.borneOut(ctx, claim, given, extend)
	case stands == sent && stands == given.size:
		claim := w.fail(Forked, nil, "at size %d it has cosigned another root: the log was rewritten; compare it with a copy", stands)
		return 0, w.borneOut(ctx, claim, given, extend)
	case stands == sent:
		return 0, w.fail(Invalid, nil, "it refuses size %d and says that it stands there; ask its operator", sent)
	case stands < before.size:
		return 0, w.gone(head{size: stands}, true, before)
	}
	return stands, nil
}

// parseStands reads the answer with status 409.
func parseStands(r reply) (int64, error) {
	if kind, _, err := mime.ParseMediaType(r.kind); err != nil || kind != "text/x.tlog.size" {
		return 0, errors.New("status 409 without a text/x.tlog.size")
	}
	text, ended := bytes.CutSuffix(r.body, []byte("\n"))
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || !ended || n < 0 || n > maxSize || strconv.FormatInt(n, 10) != string(text) {
		return 0, errors.New("status 409 with something else than a size and a newline")
	}
	return n, nil
}

// borneOut compares what a status claims with the newest checkpoint that the witness gives, signed by both: it becomes the
// evidence, or shows that the claim is wrong. A witness that gives none is taken at its word.
func (w *witnessAnchor) borneOut(ctx context.Context, claim *Error, given head, extend Extend) error {
	newest, _, err := w.ask(ctx)
	if err != nil {
		return claim
	}
	_, err = w.follow(ctx, newest, given, extend)
	var e *Error
	if errors.As(err, &e) {
		claim.Held = e.Held
		return claim
	}
	return w.fail(Invalid, claim, "its answer is as if the log had been changed, and its newest checkpoint, of size %d, does not bear that out; ask its operator", newest.size)
}

// send makes one add-checkpoint request.
func (w *witnessAnchor) send(ctx context.Context, old int64, proof []tlog.Hash, given head) (reply, error) {
	body := fmt.Appendf(nil, "old %d\n", old)
	for _, h := range proof {
		body = append(base64.StdEncoding.AppendEncode(body, h[:]), '\n')
	}
	return w.call(ctx, http.MethodPost, "/add-checkpoint", append(append(body, '\n'), given.note...))
}

// call sends a request; an answer that says that the witness is not working is an error too.
func (w *witnessAnchor) call(ctx context.Context, method, path string, body []byte) (reply, error) {
	r, err := w.client.do(ctx, method, path, body)
	switch {
	case errors.Is(err, errLong):
		return r, w.fail(Invalid, err, "%v; is there a witness at %s?", err, visible.Escape(w.client.base))
	case err != nil:
		return r, w.fail(Unreachable, err, "it does not answer: %v; try again later", err)
	case r.status >= 500 || r.status == http.StatusTooManyRequests:
		return r, w.fail(Unreachable, nil, "it cannot answer now (%s); try again later", r.says())
	case r.status >= 300 && r.status < 400:
		return r, w.fail(Refused, nil, "it sends elsewhere (status %d), which is not followed; configure the address that it moved to", r.status)
	}
	return r, nil
}

// accept checks the answer to add-checkpoint and gives the checkpoint with the cosignature.
func (w *witnessAnchor) accept(ctx context.Context, r reply, given head, extend Extend) ([]byte, error) {
	switch r.status {
	case http.StatusOK:
		return w.cosignature(r.body, given)
	case http.StatusUnprocessableEntity:
		claim := w.fail(Forked, nil, "it does not find that the log of size %d extends what it cosigned (%s): the log was rewritten; compare it with a copy", given.size, r.says())
		return nil, w.borneOut(ctx, claim, given, extend)
	case http.StatusForbidden:
		return nil, w.fail(Refused, nil, "it does not know the log's key (%s); give its operator the log's verifier key", r.says())
	case http.StatusNotFound:
		return nil, w.fail(Refused, nil, "it does not know the log, or is no witness (%s); give its operator the log's verifier key, or correct the address", r.says())
	}
	return nil, w.fail(Refused, nil, "%s; ask its operator", r.says())
}

// cosignature finds the witness's signature among the lines of an answer.
func (w *witnessAnchor) cosignature(lines []byte, given head) ([]byte, error) {
	const what = "the answer"
	msg := append([]byte(given.text+"\n"), lines...)
	if _, h, err := unsigned(msg); err != nil || h.text != given.text {
		return nil, w.fail(Invalid, err, "%s is not signature lines; is there a witness at %s?", what, visible.Escape(w.client.base))
	}
	sig, at, err := w.cosigned(what, msg, w.key)
	if err != nil {
		return nil, err
	}
	if at.Before(time.Now().Add(-skew)) {
		return nil, w.fail(BadTime, nil, "%s is cosigned at %s, long ago; set the clock, or ask the operator of the witness to", what, at.UTC().Format(time.RFC3339))
	}
	return note.Sign(&note.Note{Text: given.text, Sigs: append(slices.Clone(given.sigs), sig)})
}

// errNoPage says that a witness has no newest checkpoint, or no page for it: tlog-witness does not ask for one.
var errNoPage = errors.New("status 404")

// Newest is what the witness has cosigned last.
func (w *witnessAnchor) Newest(ctx context.Context) (Vouched, bool, error) {
	defer w.client.rest()
	v, ok, err := w.newest(w.key, func() (head, bool, error) { return w.ask(ctx) })
	if errors.Is(err, errNoPage) {
		err = nil
	}
	return v, ok, err
}

// ask asks the witness for its newest checkpoint of the log.
func (w *witnessAnchor) ask(ctx context.Context) (head, bool, error) {
	sum := sha256.Sum256([]byte(w.log.Origin))
	r, err := w.call(ctx, http.MethodGet, "/checkpoint/"+hex.EncodeToString(sum[:]), nil)
	if err != nil {
		return head{}, false, err
	}
	switch r.status {
	case http.StatusOK:
		h, err := w.opened("its newest checkpoint", r.body, w.key)
		return h, err == nil, err
	case http.StatusNotFound:
		return head{}, false, w.fail(Refused, errNoPage, "it gives no newest checkpoint, so it has none or has no page for it; ask its operator")
	}
	return head{}, false, w.fail(Refused, nil, "it does not give its newest checkpoint (%s)", r.says())
}
