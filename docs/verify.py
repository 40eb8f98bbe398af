"""Checks a log by docs/log-format.md: lines, chain, tree, checkpoints, what was kept of it elsewhere. Not checked:
signatures (Python has no Ed25519), folded state, kinds and bodies. Exit code 0: it holds; 1: it does not; 2: usage."""
import argparse, base64, datetime as dt, functools, hashlib, json, pathlib, re, sys
LINE = re.compile(rb'{"batch":\d+,"body":{.*},"kind":"[a-z.-]+","prevHash":"[0-9a-f]{64}","request":"[\w.:-]{0,128}",'
                  rb'"seq":\d+,"session":"[\w.:-]{0,128}","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z"}\n')
HIDDEN = re.compile("[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
                    "\U000e0000-\U000e0fff]")  # a line has these as escapes
HASH, SIZE = "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=", "[1-9][0-9]{0,15}"
KEPT = (f"\\A(?:c2sp.org/tlog-proof@v1\nextra ({HASH})\nindex (0|{SIZE})\n((?:{HASH}\n)*)\n)?"  # of a receipt
        f"(.+)\n({SIZE})\n({HASH})\nchain ([0-9a-f]{{64}})\nstate [0-9a-f]{{64}}\n\n(?:\u2014 \\S+ \\S+\n)+\\Z")

def must(**checks):  # the first that does not hold is the reason to refuse
    for reason in [name for name, holds in checks.items() if not holds]: raise ValueError(reason.replace("_", "-"))
def node(left, right): return hashlib.sha256(b"\1" + left + right).digest()
def head():  # origin, size, root and chain, as a checkpoint of the records so far has them
    root = functools.reduce(lambda right, left: node(left, right), reversed(edge))
    return origin, str(size), base64.b64encode(root).decode(), prev
def implied(index, size, leaf, path):  # the root that an inclusion proof leads to
    if size == 1 or not path: return leaf if size == 1 and index == 0 and not path else b""
    half = 1 << (size - 1).bit_length() - 1
    if index < half: return node(implied(index, half, leaf, path[:-1]), path[-1])
    return node(path[-1], implied(index - half, size - half, leaf, path[:-1]))

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("log", type=pathlib.Path, help="directory of the segments")
cli.add_argument("--origin", help="name that the log must have")
cli.add_argument("--anchor", "--prove", metavar="FILE", action="append", default=[], help="checkpoint or receipt of it")
args, place, padding, kept, edge = cli.parse_args(), "no segment", "", {0: []}, []
origin, size, batch, prev, signed = None, 0, 0, "0" * 64, 0
sys.excepthook = lambda kind, why, trace: print(f"{place}: {why}")  # and the exit code is 1
for place in args.anchor:
    must(note_invalid=(found := re.findall(KEPT, pathlib.Path(place).read_bytes().decode())))
    leaf, index, path, *note = found[0]
    leaf, *path = map(base64.b64decode, [leaf, *path.split()])
    must(proof_invalid=not leaf or implied(int(index), int(note[1]), leaf, path) == base64.b64decode(note[2]))
    kept.setdefault(int(note[1]), []).append(tuple(note))
for segment in sorted(args.log.glob("[0-9]" * 20 + ".jsonl")):
    file, place = segment.open("rb"), f"{segment.name} byte 0, line 1"
    must(segment_name=int(segment.stem) == size)
    while line := file.readline(65537):
        place = padding or f"{segment.name} byte {file.tell() - len(line)}, line {size - int(segment.stem) + 1}"
        padding = padding or (place if not line.strip(b"\0\n") else "")  # prepared for lines to come
        if not line.strip(b"\0\n"): continue
        must(line_blank=not padding)
        r = json.loads(line.decode(), parse_float=int, parse_constant=int)
        text = json.dumps(r, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"
        same = HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text).encode() == line and LINE.fullmatch(line)
        must(line_invalid=same and len(r) == 8 and dt.datetime.fromisoformat(r["time"][:19]))
        origin = origin or r["body"].get("origin")
        must(seq_gap=r["seq"] == size, chain_broken=r["prevHash"] == prev, batch_order=r["batch"] in (batch, size),
             first_record=(r["kind"] == "init") == (size == 0), origin_other=args.origin in (None, origin))
        if r["kind"] == "checkpoint":
            must(checkpoint_off=re.findall(KEPT, str(r["body"].get("note"))) == [("", "", "", *head())])
            signed = size
        prev, batch, level, size = hashlib.sha256(b"\0" + line[:-1]).hexdigest(), r["batch"], size, size + 1
        edge.append(bytes.fromhex(prev))
        while level & 1: edge[-2:], level = [node(*edge[-2:])], level >> 1
        must(log_forked=all(note == head() for note in kept.get(size, [])))
must(log_empty=size, log_rolled_back=max(kept) <= size)
print(f"ok, {size} records, root {head()[2]}, last checkpoint {signed}, anchored {max(kept)}; signatures not checked")
