package witness_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// A witness cosigns what extends what it has cosigned, and nothing else.
func Example() {
	log := witnesstest.New("example.com/log")
	log.Grow(8, "leaf")
	w, err := witness.Open(durabletest.New(), "/witness", witness.Options{
		Name: "witness.example/w1",
		Logs: []string{log.VerifierKey()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()

	ask := func(body []byte) {
		r := httptest.NewRecorder()
		w.ServeHTTP(r, httptest.NewRequest(http.MethodPost, "/add-checkpoint", bytes.NewReader(body)))
		fmt.Printf("%d %.20q\n", r.Code, r.Body.String())
	}
	ask(log.Request(0, 5))
	ask(log.Request(5, 8))
	ask(log.Request(5, 6)) // back
	other := log.Fork(4)
	other.Grow(9, "other")
	ask(other.Request(8, 9))
	// Output:
	// 200 "— witness.example/w1"
	// 200 "— witness.example/w1"
	// 409 "8\n"
	// 422 "the proof does not s"
}
