//go:build !race

package verdict_test

// samples is how many random logs are compared.
const samples = 20_000
