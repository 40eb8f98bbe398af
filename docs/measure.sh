#!/usr/bin/env bash
# Measures and writes docs/performance.md. Run it on a quiet machine; as root
# it drops the page cache first, so that the cold figure is cold.
set -euo pipefail
cd "$(dirname "$0")/.."
out=docs/performance.md
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/iff" ./cmd/iff
iff="$work/iff"
size=$(stat -c %s "$iff")

ms() { # milliseconds that a command takes
  local from to
  from=$(date +%s%N); "$@" >/dev/null 2>&1 || true; to=$(date +%s%N)
  echo $(((to - from) / 1000)) | awk '{printf "%.1f\n", $1 / 1000}'
}
median() { sort -n | awk '{v[NR]=$1} END {print v[int((NR + 1) / 2)]}'; }

start=$(for _ in $(seq 21); do ms "$iff" version; done | median)

head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/pass"
"$iff" init --home "$work/home" --passphrase-file "$work/pass" >/dev/null
for i in $(seq 400); do
  cp -R examples/invoice-reports "$work/skills-$i"
  sed -i "s/^name: .*/name: skill-$i/" "$work/skills-$i/SKILL.md"
  mkdir -p "$work/skills" && mv "$work/skills-$i" "$work/skills/skill-$i"
done
adopt=$(ms "$iff" skill adopt --home "$work/home" "$work/skills")
"$iff" skill verify --home "$work/home" "$work/skills" | tail -n 1 | grep -q '400 load, 0 refused'
cold="not dropped: not root"
sync
if sh -c 'echo 3 > /proc/sys/vm/drop_caches' 2>/dev/null; then cold=dropped; fi
first=$(ms "$iff" skill verify --home "$work/home" "$work/skills")
warm=$(for _ in 1 2 3 4 5; do ms "$iff" skill verify --home "$work/home" "$work/skills"; done | median)

go test -run='^$' -bench='^BenchmarkLoad$' -benchtime=2s -count=3 ./skill >"$work/load"
go test -run='^$' -bench='^BenchmarkCovers' -benchtime=1s -count=3 ./capability >"$work/covers"
go test -run='^$' -bench=. -benchtime=1s ./manifest ./internal/canonical ./internal/durable ./label >"$work/rest"

# The log. One of ten million records shows opening and proving; needs 8 GB.
go test -run='^$' -bench='^BenchmarkAppend$' -benchtime=3s -count=3 ./audit >"$work/append"
go test -run='^$' -bench='^BenchmarkVerify$' -benchtime=3s -count=3 ./audit >"$work/verify"
for records in 10000 100000 1000000 ${RECORDS:=10000000}; do
  go test -timeout=30m -run='^$' -bench='^BenchmarkBig$' -benchtime=2s ./audit -log.records="$records" -log.dir="$work/big" >"$work/big-$records"
  "$iff" audit verify --log "$work/big" >/dev/null || true # warms the page cache
  python3 - "$iff" "$work/big" >"$work/process-$records" <<'PYTHON'
import resource, subprocess, sys, time
start = time.time()
subprocess.run([sys.argv[1], "audit", "verify", "--log", sys.argv[2]], stdout=subprocess.DEVNULL, check=True)
print(time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
PYTHON
  [ "$records" = "$RECORDS" ] || rm -rf "$work/big"
done

bench() { # name, unit, file: the median over the runs
  awk -v n="$1" -v u="$2" '$1 ~ "^"n"(-[0-9]+)?$" {for (i = 2; i < NF; i++) if ($(i + 1) == u) print $i}' "$3" | median
}

{
  for w in 1 8 64 512; do
    r=$(bench "BenchmarkAppend/writers=$w" records/s "$work/append")
    echo append iff "$w" "$r"
    echo append write+fdatasync "$w" "$(awk -v r="$r" -v t="$(bench "BenchmarkAppend/writers=$w" times-bare "$work/append")" 'BEGIN {print r * t}')"
  done
  for records in 10000 100000 1000000 "$RECORDS"; do
    echo verify iff_audit_verify "$(bench BenchmarkBig/verify log-MB "$work/big-$records")" "$(cut -d' ' -f1 "$work/process-$records")"
  done
} | python3 docs/plot.py >docs/log.svg

{
  cat <<TEXT
# Performance

Made by \`docs/measure.sh\`: $(go version | cut -d' ' -f3-4), $(nproc) cores,
$(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo), $(uname -sr). Ratios are to a bare loop in the same run, medians of
several runs, with the garbage collector set as the program sets it; absolute times move with the machine.

| what | measured | to hold |
|---|---|---|
| binary, static and stripped | $(awk -v s="$size" 'BEGIN {printf "%.1f", s / 1048576}') MiB | 40 MB |
| start (\`iff version\`, whole process) | $start ms | 50 ms |
| load of a 5 KB skill, 3 files | $(bench BenchmarkLoad/5KB us/load "$work/load") us, $(bench BenchmarkLoad/5KB ratio "$work/load") times bare | 200 us, 4 times |
| load of 1 MB, 20 files | $(bench BenchmarkLoad/1MB us/load "$work/load") us, $(bench BenchmarkLoad/1MB ratio "$work/load") times bare | 1,000 us |
| load of 5 MB, 190 files | $(bench BenchmarkLoad/5MB-190-files us/load "$work/load") us, $(bench BenchmarkLoad/5MB-190-files ratio "$work/load") times bare | |
| \`iff skill verify\` over 400 skills, cold (page cache $cold) | $first ms | 2,000 ms |
| the same, warm | $warm ms | |
| \`iff skill adopt\` of 400 skills, each recorded and synced | $adopt ms | |

Bare is: read the same files with the standard library, SHA-256 over their bytes, one Ed25519 verification.

## The log

![Durable records a second by number of writers, and time to verify by size of log](log.svg)

Appending one record at a time, each writer waiting until its record is durable. Bare is a loop of write and fdatasync in the
same run: for one writer a line, for more a batch with a line of each.

| writers | records/s | MB/s | times the bare loop's time | share of the bare loop's rate |
|---|---|---|---|---|
$(for w in 1 8 64 512; do echo "| $w | $(bench "BenchmarkAppend/writers=$w" records/s "$work/append") | $(bench "BenchmarkAppend/writers=$w" MB/s "$work/append") | $(bench "BenchmarkAppend/writers=$w" times-bare "$work/append") | $(bench "BenchmarkAppend/writers=$w" of-bare "$work/append") |"; done)

To hold: 64 writers 100,000 records/s and 0.6 of bare; one writer 1.3 times bare.

Verifying every line, link, leaf, checkpoint, signature and folded state. A core's rate is by processor time; bare is SHA-256
over the same bytes, read in the same way.

| log | MB/s | MB/s a core | share of bare SHA-256 a core |
|---|---|---|---|
$(for o in 1 20; do echo "| calls that touch $o objects | $(bench "BenchmarkVerify/objects=$o" MB/s "$work/verify") | $(bench "BenchmarkVerify/objects=$o" MB/s-a-core "$work/verify") | $(bench "BenchmarkVerify/objects=$o" of-bare-a-core "$work/verify") |"; done)

To hold: 500 MB/s a core and 0.3 of bare.

| records | log, MB | \`iff audit verify\`, s | its memory, MB | open, ms | prove one, ms | receipt, bytes |
|---|---|---|---|---|---|---|
$(for r in 10000 100000 1000000 "$RECORDS"; do
  f="$work/big-$r"
  millis() { awk -v n="$1" '$1 ~ "^"n"(-[0-9]+)?$" {printf "%.1f", $3 / 1e6}' "$f"; }
  echo "| $r | $(bench BenchmarkBig/verify log-MB "$f") | $(awk '{printf "%.2f", $1}' "$work/process-$r") | $(awk '{printf "%.0f", $2}' "$work/process-$r") | $(millis BenchmarkBig/open) | $(millis BenchmarkBig/prove) | $(bench BenchmarkBig/prove receipt-bytes "$f") |"
done)

To hold: memory 64 MB at any size; opening 1 GB with a checkpoint 100 ms; proof of one record in ten million 20 ms and 2 KB.

## Grants

$(awk '/^Benchmark/ {printf "    %s\n", $0}' "$work/covers")

To hold: \`Covers\` over 50 grants within 2 us, without allocation.

## The rest

$(awk '/^Benchmark/ {printf "    %s\n", $0}' "$work/rest")
TEXT
} >"$out"
echo "wrote $out"
