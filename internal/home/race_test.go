//go:build race

package home_test

const raceEnabled = true
