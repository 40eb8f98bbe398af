package gate

import "testing"

func TestLaws(t *testing.T) {
	for _, l := range laws {
		if err := l.check(); err != nil {
			t.Errorf("%s: %v", l.name, err)
		}
	}
}
