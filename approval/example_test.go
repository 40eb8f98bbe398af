package approval_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// An approver reads a question and signs an answer; the gate checks it.
func Example() {
	tb := new(testing.T)
	q, root, key := question(tb), root(tb), trusttest.NewKey(aliceKey)
	first, _, _ := strings.Cut(q.Render(), "\n")
	fmt.Println(first)

	var random [16]byte
	rand.Read(random[:])
	until := now.Add(approval.Validity)
	answers, err := approval.Sign([]approval.Question{q}, record.Approve, "alice", key, approval.Nonce(random), until)
	fmt.Println(err, q.Check(answers[0], root, now))

	q.Request = "R-2" // the same call once more
	fmt.Println(q.Check(answers[0], root, now) == nil)
	// Output:
	// WRITE  reports/q3.md
	// <nil> <nil>
	// false
}
