package main

import (
	"strconv"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/trial"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

type ensembleRunJSON struct {
	Verdict  string               `json:"verdict" doc:"PASS, FAIL or OPEN: the worst of all rounds and the whole"`
	Corpus   string               `json:"corpus" doc:"the one that was copied"`
	Seed     string               `json:"seed" doc:"in decimal"`
	Answer   string               `json:"answer" doc:"what a person said who was asked"`
	Copied   ensembleCopyJSON     `json:"copied" doc:"what the agents acted on"`
	Refused  []refusedSkillJSON   `json:"refused" doc:"skills that are not loaded"`
	Unused   []string             `json:"unused" doc:"skills that are loaded and that no agent used"`
	Agents   []ensembleAgentJSON  `json:"agents" doc:"in the order of their turns"`
	Rounds   []ensembleRoundJSON  `json:"rounds" doc:"in order"`
	Whole    ensembleJudgedJSON   `json:"whole" doc:"over all rounds"`
	Permits  []ensemblePermitJSON `json:"permits" doc:"what let through, without a person, what is irreversible"`
	Records  int64                `json:"records" doc:"of the log of the run"`
	Again    string               `json:"again" doc:"command that makes the run again"`
	Kept     string               `json:"kept" doc:"directory with the copy and the log; empty without --keep"`
	Verify   string               `json:"verify" doc:"command that checks that log; empty without --keep"`
	Untested string               `json:"untested" doc:"what no run shows"`
}

type ensembleCopyJSON struct {
	Files       int64              `json:"files" doc:"regular files, each name of one counted"`
	Directories int64              `json:"directories" doc:"without the root"`
	Links       int64              `json:"links" doc:"those that stay inside"`
	Bytes       int64              `json:"bytes" doc:"that the files hold"`
	Omitted     int64              `json:"omitted" doc:"what was left out"`
	Left        []ensembleLeftJSON `json:"left" doc:"the first 100 of those"`
	Made        []string           `json:"made" doc:"directories that were added for scripts"`
}

type ensembleLeftJSON struct {
	Path string `json:"path" doc:"in the corpus"`
	Why  string `json:"why" doc:"closed token, or link-outside"`
}

type ensembleAgentJSON struct {
	Name      string `json:"name" doc:"as principal"`
	Role      string `json:"role" doc:"what it was told to be"`
	Skill     string `json:"skill" doc:"that it used; empty for none"`
	Level     string `json:"level" doc:"of that, or of the base manifest"`
	Turns     int64  `json:"turns" doc:"in which its mind was asked"`
	Calls     int64  `json:"calls" doc:"that came of them"`
	Nothing   int64  `json:"nothing" doc:"turns in which it wanted nothing"`
	Malformed int64  `json:"malformed" doc:"turns in which what it said was no call"`
	Refused   int64  `json:"refused" doc:"turns in which it, or its endpoint, would not"`
	Late      int64  `json:"late" doc:"turns in which no answer came in time"`
	Silenced  int    `json:"silenced" doc:"round from which on it was not asked, for what it had read may not flow to its endpoint; 0: always asked"`
}

type ensembleRoundJSON struct {
	Number int                `json:"number" doc:"from 1"`
	Calls  []ensembleCallJSON `json:"calls" doc:"in order"`
	Judged ensembleJudgedJSON `json:"judged" doc:"behind it"`
}

type ensembleCallJSON struct {
	Agent      string `json:"agent" doc:"who asked for it"`
	Skill      string `json:"skill" doc:"that it used; empty for none"`
	Capability string `json:"capability" doc:"token of the vocabulary"`
	Target     string `json:"target" doc:"as resolved, if it could be"`
	Op         string `json:"op" doc:"operation; may be empty"`
	Effect     string `json:"effect" doc:"none, reversible or irreversible; empty if it was refused before"`
	Level      string `json:"level" doc:"of the session"`
	Guarded    string `json:"guarded" doc:"skill or control file that it reached for; empty for none"`
	Asked      bool   `json:"asked" doc:"a policy or a person was asked"`
	Decision   string `json:"decision" doc:"approve or deny; empty if there was none"`
	Cause      string `json:"cause" doc:"who or what decided"`
	Rule       string `json:"rule" doc:"of a policy, or the grant"`
	Status     string `json:"status" doc:"how it ended"`
	Reason     string `json:"reason" doc:"closed token; empty if it was done"`
}

type ensembleJudgedJSON struct {
	Result   string                `json:"result" doc:"PASS, FAIL or OPEN"`
	Changed  int64                 `json:"changed" doc:"objects"`
	Findings []ensembleFindingJSON `json:"findings" doc:"what does not hold"`
}

type ensembleFindingJSON struct {
	Class  string `json:"class" doc:"see docs/sessions.md"`
	Object string `json:"object" doc:"what it is about"`
	Detail string `json:"detail" doc:"in words"`
}

type ensemblePermitJSON struct {
	By      string   `json:"by" doc:"policy or level"`
	Rule    string   `json:"rule" doc:"of the policy, or the grant"`
	Done    int      `json:"done" doc:"calls that it let through and that were done"`
	Targets []string `json:"targets" doc:"of those, each once"`
}

// untested is what no run shows.
const untested = "No skill earns level tested by this: for that its scripts have to run in the sandbox, which comes later."

// form is a trial as --json prints it.
func (c ensembleRunCmd) form(a *app, r trial.Result, kept string) ensembleRunJSON {
	out := ensembleRunJSON{
		Verdict: string(r.Verdict()), Corpus: r.Corpus, Seed: strconv.FormatUint(c.Seed, 10), Answer: c.Answer, Refused: []refusedSkillJSON{}, Unused: list(r.Unused),
		Agents: []ensembleAgentJSON{}, Rounds: []ensembleRoundJSON{}, Whole: judged(r.Whole), Permits: []ensemblePermitJSON{}, Records: r.Records,
		Again: c.again(a, r), Kept: kept, Verify: verifyKept(r, kept), Untested: untested,
	}
	out.Copied = ensembleCopyJSON{r.Copied.Files, r.Copied.Directories, r.Copied.Links, r.Copied.Bytes, r.Copied.Omitted, []ensembleLeftJSON{}, list(r.Copied.Made)}
	for _, l := range r.Copied.Left {
		out.Copied.Left = append(out.Copied.Left, ensembleLeftJSON(l))
	}
	for _, k := range r.Refused {
		out.Refused = append(out.Refused, refusedSkillJSON{k.Directory, reasonOf(k.Err), shown(k.Err)})
	}
	for _, g := range r.Agents {
		out.Agents = append(out.Agents, agentOf(g, g.Tally))
	}
	for _, round := range r.Rounds {
		one := ensembleRoundJSON{Number: round.Number, Calls: []ensembleCallJSON{}, Judged: judged(round.Report)}
		for _, k := range round.Calls {
			one.Calls = append(one.Calls, ensembleCallJSON{
				k.Agent, k.Skill, k.Capability, k.Target, k.Op, k.Effect, k.Level, k.Guarded, k.Asked(), string(k.Decision), string(k.Cause), k.Rule, string(k.Status), string(k.Reason),
			})
		}
		out.Rounds = append(out.Rounds, one)
	}
	for _, p := range r.Permits() {
		out.Permits = append(out.Permits, ensemblePermitJSON{string(p.Cause), p.Rule, p.Done, p.Targets})
	}
	return out
}

func agentOf(g trial.Agent, t ensemble.Tally) ensembleAgentJSON {
	return ensembleAgentJSON{g.Name, g.Role, g.Skill, g.Level, t.Turns, t.Calls, t.Nothing, t.Malformed, t.Refused, t.Late, g.Silenced}
}

func judged(r verdict.Report) ensembleJudgedJSON {
	out := ensembleJudgedJSON{Result: string(r.Result), Changed: r.Counts.Changed, Findings: []ensembleFindingJSON{}}
	if r.Result == "" {
		out.Result = string(record.Open)
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, ensembleFindingJSON{string(f.Class), string(f.Object), f.Detail})
	}
	return out
}
