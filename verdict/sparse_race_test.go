//go:build race

package verdict_test

// samples is how many random logs are compared; the race detector takes its time.
const samples = 3_000
