package label_test

import (
	"errors"
	"fmt"

	"github.com/iff-run/iff/label"
)

func Example() {
	scheme, _ := label.Builtin("us-government")
	report, _ := scheme.Parse("SECRET//SI//REL GBR,USA")
	source, _ := scheme.New("CONFIDENTIAL", []string{"TK"}, []string{"CAN", "USA"})
	both := report.Join(source)
	fmt.Println(both)

	clearance, _ := scheme.Parse("TOP SECRET//SI//REL USA")
	fmt.Println(report.LessEq(clearance), both.LessEq(clearance))
	fmt.Println(both.Beyond(clearance))
	// Output:
	// SECRET//SI,TK//REL USA
	// true false
	// not cleared for TK
}

func ExampleNewScheme() {
	scheme, err := label.NewScheme(label.SchemeData{
		Name:         "acme",
		Ranks:        []string{"OPEN", "TEAM", "BOARD ONLY"},
		Compartments: []string{"LEGAL", "HR"},
		Releasable:   []string{"STAFF", "PARTNERS"},
	})
	fmt.Println(scheme.Bottom(), err)
	fmt.Println(scheme.Top())
	// Output:
	// OPEN <nil>
	// BOARD ONLY//HR,LEGAL//REL NOBODY
}

func ExampleScheme_Parse() {
	scheme, _ := label.Builtin("us-government")
	for _, text := range []string{"TOPSECRET", "SECRET//TK,SI"} {
		_, err := scheme.Parse(text)
		fmt.Println(err)
	}
	_, err := scheme.Parse("SECRET//REL FVEY")
	fmt.Println(errors.Is(err, &label.Error{Reason: label.ReleasableUnknown}))
	// Output:
	// label byte 0: rank "TOPSECRET" is not in scheme us-government; nearest is TOP SECRET; the ranks are UNCLASSIFIED, CUI, CONFIDENTIAL, SECRET, TOP SECRET (rank-unknown)
	// label byte 8: "SECRET//TK,SI" has one spelling; write "SECRET//SI,TK" (label-not-canonical)
	// true
}
