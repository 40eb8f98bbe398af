#!/usr/bin/env python3
"""Fills the measured parts of docs/evaluation.md and README.md from what docs/measure-evaluation.sh
left in a directory, and prints lines "scenario criterion rate low high" for docs/plot-evaluation.py."""
import csv
import json
import math
import pathlib
import re
import sys
from collections import Counter

CRITERIA = ["iff", "paper-literal", "paper-set"]
OPEN = ["crash", "blind"]  # of which nothing is asked of the paper's definition
QUIET = (200, 2, 5)  # the cell in which agents meet least
HAPPENS = {
    "": "nothing goes wrong",
    "bypass-outside": "a write outside the gate, while nobody calls",
    "bypass-inside": "the same, while another call is being done",
    "fake-outcome": "a record of an effect, of no call or of one that had ended",
    "fake-call": "all records of a call, the approval signed by nobody who may",
    "fake-grant": "all records of a call as if a grant covered it, and no effect",
    "silent": "the host says that it is done, and did nothing",
    "other-target": "it is done to another object",
    "swap": "two approved calls land on each other's target",
    "other-content": "other content than approved, or another mode",
    "late-content": "changed again while the call has its lease, after the host was done",
    "drift": "changed between the snapshot and the first call",
    "stale": "changed between approval and effect",
    "overlap": "changed between two approved calls on the same object",
    "overlap-after": "changed after the last call on it",
    "offset": "a write outside the gate, and all records of a call that did just that",
    "partial": "the host fails half way, and says so",
    "fake-approval": "an approval beside the approver's no",
    "tamper": "a file of a loaded skill, or a control file, changed outside every call",
    "crash": "the runtime is killed, and started again",
    "restored": "changed and put back between two readings",
    "erased": "changed, and written over by an approved write before anybody read it",
    "unobserved": "changed where the corpus is volatile",
}


def three(part):
    """Three decimals; nothing is rounded to 1.000 that is less, nothing to 0.000 that is more."""
    n = math.floor(part * 1000 + 0.5)
    n = min(n, 999) if part < 1 else n
    return f"{(max(n, 1) if part > 0 else n) / 1000:.3f}"


def rate(r):
    return f"{r['rate']:.3f} [{r['low']:.3f}, {r['high']:.3f}]"


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, r)) + " |" for r in [head, ["---"] * len(head)] + rows)


def judged(scenario, criterion):
    return criterion == "iff" or scenario not in OPEN


def found(classes):
    return ", ".join(f"{c['class'] or 'nothing'} {c['runs']:,}" for c in classes)


def aggregate(by):
    cells, iff, rows = by["iff"]["cells"], by["iff"], []
    for i, s in enumerate(iff["scenarios"]):
        r = s["rate"]
        worst = min(cells, key=lambda c: c["rates"][i]["rate"])["rates"][i]
        rows.append([f"`{r['scenario']}`", s["title"], f"{r['runs']:,}", f"{r['right']:,}", rate(r), rate(worst), found(s["classes"])])
    rows.append(["**all**", "", f"{iff['runs']:,}", f"{iff['right']:,}", "", "", ""])
    head = ["scenario", "", "runs", "judged right", "rate", "worst cell", "found, in runs"]
    counts = f"False alarms {iff['false_alarms']}, misses {iff['misses']}, misplaced {iff['misplaced']}, odd {iff['odd']}."
    return table(head, rows) + "\n\n" + counts


def paper(by):
    """The paper's table: rows in which one size varies, then all cells."""
    iff = by["iff"]
    groups = [
        ("varying N", lambda c: c["k"] == 4 and c["r"] == 10),
        ("varying K", lambda c: c["n"] == 50 and c["r"] == 10),
        ("varying R", lambda c: c["n"] == 50 and c["k"] == 4),
    ]
    head = ["", "N", "K", "R"] + [s["title"] for s in iff["scenarios"][:5]]
    row = lambda title, c: [title, c["n"], c["k"], c["r"]] + [rate(r) for r in c["rates"][:5]]
    rows = [row(title if i == 0 else "", c) for title, has in groups for i, c in enumerate(filter(has, iff["cells"]))]
    runs = iff["scenarios"][0]["rate"]["runs"]
    rows.append([f"**aggregate**, n = {runs:,}", "", "", ""] + [f"**{rate(s['rate'])}**" for s in iff["scenarios"][:5]])
    return table(head, rows)


def cells(by):
    """All cells: the paper's five by iff, and clean runs by the others."""
    head = ["N", "K", "R"] + [s["title"] for s in by["iff"]["scenarios"][:5]] + [f"clean, {c}" for c in CRITERIA[1:]]
    rows = []
    for i, c in enumerate(by["iff"]["cells"]):
        rows.append([c["n"], c["k"], c["r"]] + [rate(r) for r in c["rates"][:5]] + [rate(by[x]["cells"][i]["rates"][0]) for x in CRITERIA[1:]])
    return table(head, rows)


def criteria(by):
    rows, quiet = [], next(i for i, c in enumerate(by["iff"]["cells"]) if (c["n"], c["k"], c["r"]) == QUIET)
    for i, s in enumerate(by["iff"]["scenarios"]):
        name = s["rate"]["scenario"]
        pick = lambda c, r: rate(r) if judged(name, c) and name != "blind" else "nothing asked"
        of = lambda c: by[c]["scenarios"][i]["rate"]
        rows.append([f"`{name}`", f"{s['rate']['runs']:,}"] + [pick(c, of(c)) for c in CRITERIA]
                    + [pick(c, by[c]["cells"][quiet]["rates"][i]) for c in CRITERIA[1:]])
    rows.append(["false alarms", ""] + [f"{by[c]['false_alarms']:,}" for c in CRITERIA] + ["", ""])
    rows.append(["misses", ""] + [f"{by[c]['misses']:,}" for c in CRITERIA] + ["", ""])
    n, k, r = QUIET
    return table(["scenario", "runs"] + [f"`{c}`" for c in CRITERIA] + [f"`{c}`, N={n} K={k} R={r}" for c in CRITERIA[1:]], rows)


def faults(by, runs):
    """Each fault: what is found by iff's verdict, and how often a criterion says that something is wrong."""
    made, classes, flags = Counter(), {}, {c: Counter() for c in CRITERIA}
    for r in runs:
        key = (r["scenario"], r["fault"])
        made[key] += 1
        classes.setdefault(key, Counter()).update(r["classes"].split() or [""])
        for c in CRITERIA:
            flags[c][key] += r[c.replace("-", "_")] == "false"
    rows = []
    for s in by["iff"]["scenarios"]:
        for fault in s["faults"] or [""]:
            key = (s["rate"]["scenario"], fault)
            listed = [{"class": c, "runs": n} for c, n in sorted(classes.get(key, Counter()).items(), key=lambda x: (-x[1], x[0]))]
            part = lambda c: three(flags[c][key] / made[key]) if made[key] else "-"
            rows.append([f"`{key[0]}`", f"`{fault}`" if fault else "none", HAPPENS[fault], f"{made[key]:,}", found(listed)] + [part(c) for c in CRITERIA])
    return table(["scenario", "fault", "what happens", "runs", "found by `iff`, in runs"] + [f"flagged by `{c}`" for c in CRITERIA], rows)


def machine(by, facts):
    return (f"Made by `docs/measure-evaluation.sh {by['iff']['seeds']}` on {facts['date']}, commit {facts['commit']}: {facts['go']},\n"
            f"{facts['cores']} cores, {facts['cpu']}, {facts['kernel']}. `iff {by['iff']['version']}`, seed {by['iff']['seed']}.")


def cost(by, facts):
    f = {k: float(v) for k, v in facts.items() if re.fullmatch(r"[0-9.]+", v)}
    each = lambda name: 1000 * f[name + ".s"] / f[name + ".runs"]
    cpu = lambda name: 1000 * f[name + ".cpu"] / f[name + ".runs"]
    row = lambda name, what, hold: [what, f"{f[name + '.runs']:,.0f}", f"{f[name + '.s']:.1f} s, {each(name):.2f} ms a run, {cpu(name):.2f} ms of a processor a run; {f[name + '.mb']:.0f} MB", hold]
    return table(["what", "runs", "measured", "to hold"], [
        row("paper", "the paper's five scenarios, in memory", "27,000 runs in 150 s; 200 MB"),
        row("all", "all scenarios, in memory", "200 MB"),
        row("two", "`iff sweep --seeds 2`", "5 s"),
        ["a bare run, in memory", f"{f['before.runs'] + f['behind.runs']:,.0f}", f"{f['before.ms']:.2f} ms before the paper's and {f['behind.ms']:.2f} ms behind them; a run of those takes {2 * each('paper') / (f['before.ms'] + f['behind.ms']):.1f} times that", ""],
        row("disk", f"all scenarios, on a disk ({facts['disk.fs']})", ""),
        row("memory", "the same runs, in memory", ""),
        ["a bare run, on the same disk", f"{f['bare.disk.runs']:,.0f}", f"{f['bare.disk.ms']:.2f} ms; a run on it takes {each('disk') / f['bare.disk.ms']:.1f} times that, and {each('disk') / each('memory'):.1f} times one in memory", ""],
    ])


def readme(by):
    iff = by["iff"]
    five, more = iff["scenarios"][:5], [s["rate"] for s in iff["scenarios"][5:] if s["rate"]["scenario"] != "blind"]
    head = [f"{five[0]['rate']['runs']:,} runs of each"] + [s["title"] for s in five] + [f"{len(more)} more kinds of run"]
    row = ["`iff verdict`"] + [rate(s["rate"]) for s in five] + [f"{sum(r['right'] for r in more):,} of {sum(r['runs'] for r in more):,} right"]
    return table(head, [row])


def fill(path, parts):
    text = path.read_text()
    for name, body in parts.items():
        form = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.S)
        text, n = form.subn(lambda m: m[1] + body + "\n" + m[2], text)
        if n != 1:
            sys.exit(f"{path}: {n} parts are called {name}, not one")
    path.write_text(text)


def main():
    work, docs = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    by = {c: json.loads((work / f"{c}.json").read_text()) for c in CRITERIA}
    facts = dict(line.split(" ", 1) for line in (work / "facts").read_text().splitlines())
    with open(work / "runs.csv", newline="") as f:
        parts = {"faults": faults(by, csv.DictReader(f))}
    parts |= {p.__name__: p(by) for p in (aggregate, paper, cells, criteria)}
    parts |= {p.__name__: p(by, facts) for p in (machine, cost)}
    fill(docs / "evaluation.md", parts)
    fill(docs.parent / "README.md", {"readme": readme(by)})
    for i, s in enumerate(by["iff"]["scenarios"]):
        for c in CRITERIA:
            r = by[c]["scenarios"][i]["rate"]
            if judged(r["scenario"], c) and r["scenario"] != "blind":
                print(s["title"].replace(" ", "_"), c, r["rate"], r["low"], r["high"])


main()
