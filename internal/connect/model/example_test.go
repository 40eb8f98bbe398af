package model_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/iff-run/iff/internal/connect/model"
)

// An agent asks its model what to do, and is told to run a command.
func Example() {
	e, err := model.Start(context.Background(), model.Script{Main: []model.Step{
		{Tool: "bash", Args: map[string]any{"command": "ls"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	r, err := http.Post(e.URL()+"/v1/messages", "application/json", strings.NewReader(`{
		"model": "any", "messages": [{"role": "user", "content": "look around"}],
		"tools": [{"name": "bash", "input_schema": {"type": "object"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Body.Close()
	reply, err := io.ReadAll(r.Body)
	fmt.Println(strings.Contains(string(reply), `"input":{"command":"ls"}`), err)
	fmt.Println(e.Offered())
	// Output:
	// true <nil>
	// [bash]
}
