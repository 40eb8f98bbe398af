package canonical_test

import (
	"errors"
	"fmt"

	"github.com/iff-run/iff/internal/canonical"
)

func Example() {
	type call struct {
		Target  string        `json:"target"`
		Amounts []int64       `json:"amounts"`
		Args    canonical.Raw `json:"args"`
		Note    string        `json:"note,omitempty"`
	}
	var c call
	err := canonical.Parse([]byte(`{
		"target": "r\u00e9sum\u00e9", "amounts": [1.0, 2e1], "args": {"z": null, "a": 0.50}
	}`), &c, canonical.Limits{})
	fmt.Println(c.Target, c.Amounts, c.Args, err)

	out, err := canonical.Marshal(c)
	fmt.Println(string(out), err)

	err = canonical.Parse([]byte(`{"target": "/a", "amounts": [], "args": 1, "Target": "/etc/shadow"}`), &c, canonical.Limits{})
	fmt.Println(err)
	var refused *canonical.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, refused.Offset, refused.Field)
	}
	// Output:
	// résumé [1 20] {"a":0.5,"z":null} <nil>
	// {"amounts":[1,20],"args":{"a":0.5,"z":null},"target":"résumé"} <nil>
	// case-key at /Target (byte 43): the field is called "target"; keys are exact in case
	// case-key 43 /Target
}

func ExampleTransform() {
	for _, doc := range []string{
		` {"b": 1.0, "a": "\u0041\/"} `,
		`{"a": 9007199254740993}`,
		`{"a": 1} {"a": 2}`,
	} {
		out, err := canonical.Transform([]byte(doc), canonical.Limits{})
		fmt.Println(string(out), err)
	}
	// Output:
	// {"a":"A/","b":1} <nil>
	//  number-inexact at /a (byte 6): a 64-bit floating point number does not hold exactly this number; use fewer digits or a string
	//  trailing-bytes (byte 9): something follows the end of the document; remove it
}
