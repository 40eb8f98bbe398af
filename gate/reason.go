package gate

// Reason says why a call was refused or failed: a closed set of tokens, the same
// in replies, records and documentation.
type Reason string

// Why a gate refuses.
const (
	Undeclared     Reason = "undeclared"          // the active manifest does not have the class
	DeniedByBroker Reason = "denied"              // who was asked said no
	TimedOut       Reason = "timed-out"           // nobody answered
	Cancelled      Reason = "cancelled"           // who asked for it took it back
	NoBroker       Reason = "no-broker"           // nobody can be asked
	BrokerFailed   Reason = "broker-failed"       // who was asked gave no answer that counts
	Unlabelled     Reason = "unlabelled"          // a label is missing
	AboveClearance Reason = "above-clearance"     // it would be read by who may not
	SinkBelowMark  Reason = "sink-below-mark"     // it would flow where it may not
	NoHost         Reason = "no-host"             // nothing here can do calls of this class
	NoCorpus       Reason = "no-corpus"           // the target is in no corpus
	IsVolatile     Reason = "volatile"            // the target is outside of what is observed
	NotReversible  Reason = "not-reversible"      // it cannot be put back, so not under a reversible capability
	BufferFull     Reason = "buffer-full"         // there is no room for the state before
	Conflict       Reason = "conflict"            // the world is not what was approved
	Busy           Reason = "busy"                // somebody else works on the object
	InDoubt        Reason = "in-doubt"            // what became of a call is not known
	KeyReused      Reason = "key-reused"          // an idempotency key came with another call
	SkillRevoked   Reason = "skill-evicted"       // the active skill is not trusted any more
	LevelLowered   Reason = "level-lowered"       // the session's level fell before what it would have approved was done
	SkillUnknown   Reason = "skill-unknown"       // no skill of that name is loaded
	SessionPaused  Reason = "session-paused"      // an operator paused it
	SessionEnded   Reason = "session-ended"       // stopped, aborted or closed
	SessionUnknown Reason = "session-unknown"     // there is none of that id
	TooManyCalls   Reason = "too-many-calls"      // of one session at once, or waiting for a human
	TooMuchAsked   Reason = "too-much-asked"      // the agent asks for more that nobody approves than is kept in a day
	LogFailed      Reason = "log-failed"          // what cannot be recorded is refused
	HostFailed     Reason = "host-failed"         // the host tried and failed
	HostOverdue    Reason = "host-overdue"        // the host did not come back in time
	SpellingHides  Reason = "spelling-hides"      // a hostile spelling names a guarded object
	CallMalformed  Reason = "call-malformed"      // not a call
	ApprovalVoid   Reason = "approval-void"       // an approval that is not for this, or comes from nobody who may
	Reconfigured   Reason = "corpus-reconfigured" // a corpus is not what it was when it was last read
)

// Why a host refuses a file call.
const (
	NotFound      Reason = "not-found"
	AlreadyThere  Reason = "already-there"
	NotAFile      Reason = "not-a-file"
	NotADirectory Reason = "not-a-directory"
	NotEmpty      Reason = "not-empty"
	IsLink        Reason = "file-link"
	IsSpecial     Reason = "file-special"
	IsMount       Reason = "file-mount"
	HardLinked    Reason = "file-hardlink"
	TooLarge      Reason = "object-too-large"
	TooMany       Reason = "too-many-objects"
	NoAccess      Reason = "no-access"
	ArgumentsBad  Reason = "arguments-invalid"
	NameTwin      Reason = "name-twin"
	NoRoom        Reason = "no-room"
	Changing      Reason = "file-changing"
)
