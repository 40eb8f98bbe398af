package record

// What happens to a runtime, its sessions and the log itself (DESIGN sections
// 3, 5, 6 and 7).

// The kinds.
const (
	KindBoot       Kind = "boot"
	KindLock       Kind = "lock"
	KindSession    Kind = "session"
	KindBarrier    Kind = "barrier"
	KindVerdict    Kind = "verdict"
	KindRecovery   Kind = "recovery"
	KindCheckpoint Kind = "checkpoint"
)

// Boot says that a runtime started. Its fence is higher than any before: what
// an older runtime still tries carries a lower one.
type Boot struct {
	Config       string // digest of iff.toml
	Fence        int64
	PID          int64
	Policy       string // digest; empty if there is none
	Profile      string
	SameUID      bool // agents run as the approver's user
	TrustDigest  string
	TrustVersion int64
	Version      string // of iff
}

func (b *Boot) walk(c *codec) {
	c.open()
	c.text("config", &b.Config)
	c.int("fence", &b.Fence)
	c.int("pid", &b.PID)
	c.optText("policy", &b.Policy)
	c.text("profile", &b.Profile)
	c.bool("sameUid", &b.SameUID)
	c.text("trustDigest", &b.TrustDigest)
	c.int("trustVersion", &b.TrustVersion)
	c.text("version", &b.Version)
	c.close()
}

// Lock says that trust and skills are frozen from here on.
type Lock struct {
	Skills       []string // subjects, hex, sorted
	TrustDigest  string
	TrustVersion int64
}

func (b *Lock) walk(c *codec) {
	c.open()
	c.texts("skills", &b.Skills)
	c.text("trustDigest", &b.TrustDigest)
	c.int("trustVersion", &b.TrustVersion)
	c.close()
}

// Transition is what a session did.
type Transition string

// The transitions.
const (
	SessionOpened       Transition = "opened"
	SessionPaused       Transition = "paused"
	SessionResumed      Transition = "resumed"
	SessionCheckpointed Transition = "checkpointed"
	SessionStopped      Transition = "stopped"
	SessionAborted      Transition = "aborted"
	SessionClosed       Transition = "closed"
	SessionSkill        Transition = "skill" // content of a skill was delivered; Skill says which one is active now
	AgentReset          Transition = "reset" // an operator cleared what an agent had been given and had read
)

var transitions = []Transition{
	SessionOpened, SessionPaused, SessionResumed, SessionCheckpointed, SessionStopped, SessionAborted, SessionClosed,
	SessionSkill, AgentReset,
}

// Session is one transition of the session that the record names.
type Session struct {
	Agent      string
	Detail     string
	Level      string
	Mark       string
	Skill      string // subject of the active skill, hex; may be empty
	Transition Transition
}

func (b *Session) walk(c *codec) {
	c.open()
	c.text("agent", &b.Agent)
	c.optText("detail", &b.Detail)
	c.optText("level", &b.Level)
	c.optText("mark", &b.Mark)
	c.optText("skill", &b.Skill)
	token(c, "transition", &b.Transition, transitions)
	c.close()
}

// CorpusRoot is what a whole corpus was at an instant with no lease.
type CorpusRoot struct {
	Base     Hash // root of the snapshot that Snapshot lists the changes from; zero: it is the whole
	Corpus   string
	Objects  int64
	Observer string
	Place    string // directory that it is, without links
	Root     Hash
	Snapshot Payload // the states themselves, or those that differ from Base with absent for what is gone; package corpus
	Unread   int64   // objects that could not be read
	Volatile []string
}

func (b *CorpusRoot) walk(c *codec) {
	c.open()
	c.optHash("base", &b.Base)
	c.text("corpus", &b.Corpus)
	c.int("objects", &b.Objects)
	c.text("observer", &b.Observer)
	c.text("place", &b.Place)
	c.hash("root", &b.Root)
	b.Snapshot.opt(c, "snapshot")
	c.int("unread", &b.Unread)
	c.texts("volatile", &b.Volatile)
	c.close()
}

// Barrier is an instant with no lease outstanding.
type Barrier struct {
	Corpora []CorpusRoot
	Fence   int64 // of the runtime that took it
	Idle    bool  // no call was under way, in doubt, or could still be put back
	Round   int64
}

func (b *Barrier) walk(c *codec) {
	c.open()
	array(c, "corpora", &b.Corpora, (*CorpusRoot).walk)
	c.int("fence", &b.Fence)
	c.bool("idle", &b.Idle)
	c.int("round", &b.Round)
	c.close()
}

// Result of a verdict.
type Result string

// The results.
const (
	Pass Result = "PASS"
	Fail Result = "FAIL"
	Open Result = "OPEN"
)

var results = []Result{Pass, Fail, Open}

// Verdict says what the biconditional came to over an interval of the log.
type Verdict struct {
	Corpora  []string
	Findings int64
	From     int64 // first sequence number
	Report   Payload
	Result   Result
	To       int64 // behind the last
}

func (b *Verdict) walk(c *codec) {
	c.open()
	c.texts("corpora", &b.Corpora)
	c.int("findings", &b.Findings)
	c.int("from", &b.From)
	b.Report.opt(c, "report")
	token(c, "result", &b.Result, results)
	c.int("to", &b.To)
	c.close()
}

// Recovery says what an opener of the log found: a tail that a crash had torn
// and that was cut off, and calls that the crash ended. RolledBack were staged in
// memory only, decided or not; of the others Denied had no decision, Expired a
// decision and no intent. None of them did anything. InDoubt have an intent and
// no outcome: they stay open.
type Recovery struct {
	Denied     []string
	Expired    []string
	InDoubt    []string
	RolledBack []string
	Torn       Payload // the bytes that were cut off
}

func (b *Recovery) walk(c *codec) {
	c.open()
	c.texts("denied", &b.Denied)
	c.texts("expired", &b.Expired)
	c.texts("inDoubt", &b.InDoubt)
	c.texts("rolledBack", &b.RolledBack)
	b.Torn.opt(c, "torn")
	c.close()
}

// Checkpoint is a signed note over all records before this one.
type Checkpoint struct {
	Note string
}

func (b *Checkpoint) walk(c *codec) {
	c.open()
	c.text("note", &b.Note)
	c.close()
}
