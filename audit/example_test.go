package audit_test

import (
	"context"
	"fmt"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

func Example() {
	ctx, key := context.Background(), trusttest.NewKey(1)
	disk := new(audittest.Memory)
	store, _ := disk.Open()
	log, _ := audit.Create(ctx, store, record.Init{Origin: "iff/log/example", Operator: "me"}, key, audit.Options{})
	marks, _ := log.Append(ctx, record.Of(record.KeyCreated{Name: "me"}))
	note, _ := log.Checkpoint(ctx) // somebody outside keeps this
	receipt, _ := log.View().Receipt(ctx, marks[0].Seq)
	_ = log.Close()

	verifier, _ := audit.Verifier("iff/log/example", key.Public())
	seen, _ := audit.OpenCheckpoint(note, verifier)
	_, err := receipt.Check(verifier)
	fmt.Println("the receipt holds:", err == nil)

	store, _ = disk.Open()
	defer store.Close()
	report, _ := audit.Verify(ctx, store, audit.VerifyOptions{
		Anchors: []audit.Anchored{{By: "somebody", Size: seen.Size, Root: seen.Root}},
	})
	fmt.Println("the log holds:", report.Holds(), "to", report.AnchoredTo, "of", report.Records)
	// Output:
	// the receipt holds: true
	// the log holds: true to 2 of 3
}
