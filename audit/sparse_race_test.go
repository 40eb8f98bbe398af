//go:build race

package audit_test

const sparser = 8
