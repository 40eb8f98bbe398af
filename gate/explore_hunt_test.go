//lint:file-ignore U1000 the program that the mutants are built into calls it

package gate

// hunt looks for a broken promise where one is found soon, if there is one: first
// by the laws, then in scenarios of one and two calls.
func hunt() error {
	for _, l := range laws {
		if err := l.check(); err != nil {
			return &lawBroken{l.name, err}
		}
	}
	stage, err := newStage()
	if err != nil {
		return err
	}
	scenarios := ones(stage, 1, true)
	scenarios = append(scenarios, openings(stage, 1)...)
	scenarios = append(scenarios, ones(stage, 2, false)...)
	scenarios = append(scenarios, sample(pairs(stage, 1), 5)...)
	for _, x := range scenarios {
		x.limit = maxHunt
		if _, _, err := x.explore(); err != nil {
			return err
		}
	}
	return nil
}

// maxHunt is how many moves a scenario has at most, far more than any without a
// bug.
const maxHunt = 500_000

// lawBroken says which law.
type lawBroken struct {
	law string
	err error
}

func (e *lawBroken) Error() string { return "law of " + e.law + ": " + e.err.Error() }
func (e *lawBroken) Unwrap() error { return e.err }
