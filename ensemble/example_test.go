package ensemble_test

import (
	"context"
	"fmt"

	"github.com/iff-run/iff/ensemble"
)

// Three agents work for five rounds. In the third the host writes other bytes
// than were approved.
func Example() {
	r, err := ensemble.Run(context.Background(), ensemble.Config{N: 10, K: 3, R: 5, Seed: 1, Fault: ensemble.OtherContent})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict, r.Classes(), r.AsWanted())
	// Output: FAIL [wrong-content] true
}
