package broker_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/record"
)

func ExampleDenyAll() {
	answers, err := broker.DenyAll{}.Ask(context.Background(), make([]approval.Question, 1))
	fmt.Println(answers[0].Choice, answers[0].Cause, err)
	// Output: deny broker <nil>
}

func TestDenyAll(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for n := range 4 {
		answers, err := broker.DenyAll{}.Ask(ended, make([]approval.Question, n))
		if err != nil || len(answers) != n {
			t.Fatalf("%d questions: %d answers, %v", n, len(answers), err)
		}
		for _, a := range answers {
			if a.Choice != record.Deny || a.Cause != record.CauseBroker || a.Broker != (broker.DenyAll{}).Name() {
				t.Errorf("%+v", a)
			}
		}
	}
}
