package gate

// Call is what a surface hands in: text, as the agent sent it. Nothing in it is
// believed.
type Call struct {
	Capability string
	Target     string
	Arguments  []byte // a JSON object; none means {}
	Reasoning  string
	Key        string // idempotency key of the agent's choice, up to 128 of A-Z a-z 0-9 . _ : -; may be empty
}

// Status says how a call ended. The zero value is none and means refused.
type Status string

// The statuses.
const (
	Done         Status = "done"     // it happened and is recorded, or was read
	StagedStatus Status = "staged"   // it waits for a confirmation, and only this session sees it
	Denied       Status = "denied"   // a decision says no
	Refused      Status = "refused"  // nothing happened
	Failed       Status = "failed"   // the host tried; recorded
	Doubtful     Status = "in-doubt" // nobody knows yet whether it happened
)

// Reply is what the agent is told.
type Reply struct {
	Request string // id of the call; empty if it got none
	Status  Status
	Reason  Reason   // empty if it was done
	Message string   // one or a few lines for the agent; may be empty
	Result  []byte   // one JSON object; empty if there is none
	Allowed []string // of a denial: what the active manifest declares
}
