package inbox

// Reason is a closed token: why the inbox did not take something.
type Reason string

// The reasons.
const (
	Full          Reason = "inbox-full"      // too many questions wait
	NotAsked      Reason = "question-unfit"  // a group that cannot be asked
	AnswerLate    Reason = "answer-late"     // the question has ended
	AnswerUnknown Reason = "answer-unknown"  // there is no such question, or it ended long ago
	AnswerVoid    Reason = "answer-void"     // the answer does not count; what it wraps says why
	Unattended    Reason = "inbox-unchecked" // nothing here can check an answer
)

// Error says what the inbox did not take.
type Error struct {
	Reason  Reason
	Request string // id of the question; empty if it is about more than one
	Detail  string // what is wrong, then what to do; one line
	Err     error  // may be nil
}

// Error is one line.
func (e *Error) Error() string {
	s := string(e.Reason)
	if e.Request != "" {
		s += ": request " + e.Request
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
