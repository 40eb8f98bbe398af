#!/usr/bin/env bash
# Measures the evaluation, and writes the measured parts of docs/evaluation.md, the
# row in README.md, and docs/evaluation.svg. Run it on a quiet machine:
#   docs/measure-evaluation.sh [SEEDS]     200 if nothing else is said
# DISK names a directory on a disk; /var/tmp if it is not set.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds="${1:-200}"
few=$(((seeds + 39) / 40))
disk="${DISK:-/var/tmp}"
memory=/dev/shm
[ "$(stat -f -c %T "$memory")" = tmpfs ] || { echo "$memory is not memory here"; exit 1; }
[ "$(stat -f -c %T "$disk")" != tmpfs ] || { echo "$disk is memory: set DISK to a directory on a disk"; exit 1; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/iff" ./cmd/iff

# How long a command takes, its processor time and its memory, as facts.
cat >"$work/timed.py" <<'PYTHON'
import json, resource, subprocess, sys, time
name, wanted, result, facts, *command = sys.argv[1:]
start = time.time()
with open(result, "w") as out:
    code = subprocess.run(command, stdout=out).returncode
took, used = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
if code != int(wanted):
    sys.exit(f"{' '.join(command)}: exit code {code}, not {wanted}; its result is:\n" + open(result).read()[:4000])
with open(facts, "a") as out:
    for what, value in (("runs", json.load(open(result))["runs"]), ("s", took), ("cpu", used.ru_utime + used.ru_stime), ("mb", used.ru_maxrss / 1024)):
        print(f"{name}.{what}", round(value, 3), file=out)
PYTHON
sweep() { # name, exit code, file of its result, flags: one sweep
  python3 "$work/timed.py" "$1" "$2" "$3" "$work/facts" "$work/iff" sweep --json "${@:4}"
}

# The yardstick: what is written is read, and nothing is decided, recorded or
# judged. As many processes as a sweep has workers.
cat >"$work/bare.py" <<'PYTHON'
import hashlib, os, shutil, sys, tempfile, time
parent, loops, cores = sys.argv[1], int(sys.argv[2]), os.cpu_count()
def run(n):
    at = tempfile.mkdtemp(prefix="bare-", dir=parent)
    for i in range(n):
        fd = os.open(f"{at}/{i}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, b"%0512d" % i)
        os.fdatasync(fd)
        os.close(fd)
    for i in range(n):
        with open(f"{at}/{i}", "rb") as f:
            hashlib.sha256(f.read()).digest()
    shutil.rmtree(at)
start = time.time()
children = []
for _ in range(cores):
    pid = os.fork()
    if pid == 0:
        for i in range(loops):
            run((10, 50, 200)[i % 3])
        os._exit(0)
    children.append(pid)
if any(os.waitpid(pid, 0)[1] for pid in children):
    sys.exit("a bare run failed")
print(loops * cores, 1000 * (time.time() - start) / (loops * cores))
PYTHON
bare() { # name, where, loops
  python3 "$work/bare.py" "$2" "$3" | awk -v n="$1" '{print n ".runs", $1; print n ".ms", $2}' >>"$work/facts"
}

commit="$(git rev-parse --short HEAD)"
git --no-optional-locks diff --quiet HEAD -- '*.go' go.mod go.sum || commit="$commit with changes"
{
  echo "date $(date -u +%Y-%m-%d)"
  echo "commit $commit"
  echo "go $(go version | cut -d' ' -f3-4)"
  echo "cores $(nproc)"
  echo "cpu $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo)"
  echo "kernel $(uname -sr)"
  echo "disk.fs $(stat -f -c %T "$disk")"
} >"$work/facts"

sweep two 0 "$work/two.json" --seeds 2
bare before "$memory" 300
sweep paper 0 "$work/paper.json" --seeds "$seeds" --out "$work/paper"
bare behind "$memory" 300
sweep all 0 "$work/iff.json" --seeds "$seeds" --scenarios all --out "$work/all"
cp "$work/all/runs.csv" "$work/runs.csv"
for c in paper-literal paper-set; do # the runs that are kept, judged anew
  sweep "$c" 1 "$work/$c.json" --criterion "$c" --out "$work/all"
done

# The paper's runs, made alone, are the same ones.
awk -F, 'NR == 1 || $4 ~ /^(clean|f[1-4])$/' "$work/runs.csv" | cmp - "$work/paper/runs.csv"

bare bare.disk "$disk" 12
sweep memory 0 "$work/memory.json" --seeds "$few" --scenarios all
sweep disk 0 "$work/disk.json" --seeds "$few" --scenarios all --dir "$disk"
cmp "$work/memory.json" "$work/disk.json"

python3 docs/evaluation.py "$work" >"$work/rates"
python3 docs/plot-evaluation.py <"$work/rates" >"$work/svg"
cp "$work/svg" docs/evaluation.svg
echo "wrote docs/evaluation.md, docs/evaluation.svg, and the row in README.md"
