//go:build !race

package audit_test

// sparser is how many times fewer samples are taken than without the race
// detector, under which the same lines take ten times as long.
const sparser = 1
