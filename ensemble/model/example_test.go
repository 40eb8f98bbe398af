package model_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/gate"
)

// A mind asks what was recorded of an endpoint, and is told what came of its calls.
func Example() {
	cassette, err := os.ReadFile("testdata/example.cassette.json")
	if err != nil {
		log.Fatal(err)
	}
	player, err := model.NewPlayer(cassette)
	if err != nil {
		log.Fatal(err)
	}
	m, err := model.New(model.Options{
		Dialect: model.Messages, URL: "https://api.example.com/v1", Model: "m", Role: ensemble.Roles()[0], Way: player,
	})
	if err != nil {
		log.Fatal(err)
	}
	turn := ensemble.Turn{Rounds: 3, Files: []string{"finance/2019-Q1-payroll-001.csv"}}
	for turn.Round = 1; turn.Round <= turn.Rounds; turn.Round++ {
		call, ok, err := m.Next(context.Background(), turn)
		if err != nil {
			log.Fatal(err)
		}
		turn.LastCall, turn.Last = call, gate.Reply{}
		if ok {
			fmt.Printf("%s %s %s\n", call.Capability, call.Target, call.Arguments)
			turn.Last = gate.Reply{Status: gate.Denied, Reason: gate.Undeclared}
		}
	}
	fmt.Printf("%+v\n", m.Tally())
	// Output:
	// fs.read finance/2019-Q1-payroll-001.csv {"op":"read"}
	// fs.write.irrev finance/2019-Q1-payroll-001.csv {"op":"delete"}
	// {Turns:3 Calls:2 Nothing:1 Malformed:0 Refused:0 Late:0}
}
