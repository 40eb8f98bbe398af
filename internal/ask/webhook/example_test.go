package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// A receiver checks who asks, decides, and signs what it decided.
func Example() {
	runtime, approver := trusttest.NewKey(askKey), trusttest.NewKey(hookKey)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, webhook.MaxRequest))
		if err != nil {
			log.Fatal(err)
		}
		request, err := webhook.Open(runtime.Public(), r.Header.Get(webhook.Header), body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		answers, err := approval.Sign(request.Questions, record.Deny, "hook", approver, nonce, now.Add(time.Minute))
		if err != nil {
			log.Fatal(err)
		}
		reply, err := webhook.Reply(answers)
		if err != nil {
			log.Fatal(err)
		}
		w.Header().Set("Content-Type", webhook.ContentType)
		_, _ = w.Write(reply)
	}))
	defer server.Close()

	var t testing.T
	b, err := webhook.New(options(&t, server.URL))
	if err != nil {
		log.Fatal(err)
	}
	answers, err := b.Ask(context.Background(), questions(&t, 1))
	fmt.Println(answers[0].Choice, answers[0].Cause, answers[0].Approver, err)
	// Output: deny webhook hook <nil>
}
