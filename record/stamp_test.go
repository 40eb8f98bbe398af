package record_test

import (
	"testing"
	"time"

	"github.com/iff-run/iff/record"
)

// A stamp is what the standard library writes, of any time and zone.
func TestStampOf(t *testing.T) {
	east := time.FixedZone("east", 14*60*60)
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(1, 999_999_999), time.Date(2024, 2, 29, 23, 59, 59, 1, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 0, east), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-1, 3, 4, 5, 6, 7, 8, time.UTC), time.Date(123456, 7, 8, 9, 10, 11, 12, time.UTC),
	} {
		for range 400 {
			want := at.UTC().Format("2006-01-02T15:04:05.000000000Z")
			if got := record.StampOf(at); string(got) != want {
				t.Fatalf("%s, not %s", got, want)
			}
			at = at.Add(40*24*time.Hour + 7*time.Hour + 11*time.Minute + 13*time.Second + 123_456_789)
		}
	}
}
