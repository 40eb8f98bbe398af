package record

import "strings"

// Skimmer reads lines for folding and nothing else. It checks as strictly as
// [ParseLine]; but the bodies of calls, which are most of a log, are read into
// memory that is used again and come back with only what [State] looks at. The
// zero value is ready. It is not safe for concurrent use.
type Skimmer struct {
	codec    codec
	stamp    lastStamp
	request  Request
	decision Decision
	intent   Intent
	outcome  Outcome
	staged   Staged
	asked    asked
}

// What folding looks at in the bodies of calls: their kind, of a request what it
// says of its agent, and of a decision the choice.
var (
	skimmedApproval   Body = Decision{Choice: Approve}
	skimmedDenial     Body = Decision{Choice: Deny}
	skimmedIntent     Body = Intent{}
	skimmedCommit     Body = CommitIntent{}
	skimmedRollback   Body = RollbackIntent{}
	skimmedExecuted   Body = Executed{}
	skimmedError      Body = Error{}
	skimmedCommitted  Body = Committed{}
	skimmedRolledBack Body = RolledBack{}
	skimmedStaged     Body = Staged{}
)

// Line reads one line. Its strings share memory with the argument.
func (s *Skimmer) Line(line string) (r Record, err error) {
	kind, err := s.codec.head(line, &r, &s.stamp)
	if err == nil {
		s.codec.skimming = isCall(kind)
		r.Body = s.body(kind)
		err = s.codec.whole(kind)
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// isCall says whether the body of a kind is read into memory that is used
// again.
func isCall(k Kind) bool {
	switch k {
	case KindRequest, KindReversibleRequest, KindDecision, KindIntent, KindCommitIntent, KindRollbackIntent,
		KindExecuted, KindError, KindCommitted, KindRolledBack, KindStaged:
		return true
	}
	return false
}

func (s *Skimmer) body(k Kind) Body {
	c := &s.codec
	switch k {
	case KindRequest:
		s.request.walk(c)
		s.asked.by(&s.request)
		return s.asked.request
	case KindReversibleRequest:
		s.request.walk(c)
		s.asked.by(&s.request)
		return s.asked.reversible
	case KindDecision:
		if s.decision.walk(c); s.decision.Choice == Approve {
			return skimmedApproval
		}
		return skimmedDenial
	case KindIntent:
		s.intent.walk(c)
		return skimmedIntent
	case KindCommitIntent:
		s.intent.walk(c)
		return skimmedCommit
	case KindRollbackIntent:
		s.intent.walk(c)
		return skimmedRollback
	case KindExecuted:
		s.outcome.walk(c)
		return skimmedExecuted
	case KindError:
		s.outcome.walk(c)
		return skimmedError
	case KindCommitted:
		s.outcome.walk(c)
		return skimmedCommitted
	case KindRolledBack:
		s.outcome.walk(c)
		return skimmedRolledBack
	case KindStaged:
		s.staged.walk(c)
		return skimmedStaged
	}
	return decode(k, c)
}

// asked is what folding looks at in a request, as the body of either kind. It
// is kept, for requests that stand near one another mostly agree in it.
type asked struct {
	agent, mark         string // as the line has them, with escapes
	request, reversible Body
}

func (a *asked) by(b *Request) {
	if a.request != nil && a.agent == b.Agent && a.mark == b.Mark {
		return
	}
	a.agent, a.mark = strings.Clone(b.Agent), strings.Clone(b.Mark)
	seen := Request{Agent: unescape(a.agent), Mark: unescape(a.mark)}
	a.request, a.reversible = seen, ReversibleRequest{seen}
}
