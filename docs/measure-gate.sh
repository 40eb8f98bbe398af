#!/usr/bin/env bash
# Measures the gate, its hosts, observers and verdicts, and writes
# docs/performance-gate.md. Run it on a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
out=docs/performance-gate.md
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
median() { sort -n | awk '{v[NR]=$1} END {print v[int((NR + 1) / 2)]}'; }
bench() { # name, unit, file: the median over the runs
  awk -v n="$1" -v u="$2" '$1 ~ "^"n"(-[0-9]+)?$" {for (i = 2; i < NF; i++) if ($(i + 1) == u) print $i}' "$work/$3" | median
}

go test -run='^$' -bench='^BenchmarkCall$' -benchtime=3s -count=3 ./gate >"$work/call"
go test -run='^$' -bench='^BenchmarkLife$' -benchmem -count=3 ./gate >"$work/step"
go test -run='^$' -bench='^BenchmarkFileWrite$' -benchtime=1s -count=3 . >"$work/write"
go test -run='^$' -bench='^BenchmarkWrite$' -benchtime=3s -count=3 ./internal/host/fs >"$work/host"
go test -run='^$' -bench='^BenchmarkMillion$' -benchtime=3x -count=3 ./verdict >"$work/verdict"
go test -run='^$' -bench='^Benchmark(Full|StatRound|Read)$' -benchtime=3x -count=3 ./internal/observe/rehash >"$work/rehash"
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/iff" ./cmd/iff
demo=$(for _ in 1 2 3; do "$work/iff" demo --json | awk -F'[:,]' '/"took"/ {print $2 / 1000}'; done | median)

{
  cat <<TEXT
# Performance of the gate

Made by \`docs/measure-gate.sh\`: $(go version | cut -d' ' -f3-4), $(nproc) cores,
$(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo), $(uname -sr). Ratios are to a bare loop in the same run, medians of
three runs; absolute times move with the machine. The rest is in [performance.md](performance.md).

| what | measured | to hold |
|---|---|---|
| step function, nothing beside | $(bench BenchmarkLife/0 ns/step step) ns a step, $(bench BenchmarkLife/0 allocs/op step) allocations for a whole call | 5,000 ns, 20 a step |
| durable call on a host that does nothing, alone | $(bench BenchmarkCall/flight=1 us-over-bare call) us over two bare syncs of $(bench BenchmarkCall/flight=1 us/bare-sync call) us | 100 us |
| the same, 64 in flight | $(bench BenchmarkCall/flight=64 calls/s call) calls/s | 20,000 |
| durable write of a 4 KiB file, through everything, alone | $(bench BenchmarkFileWrite/1 us/write write) us, $(bench BenchmarkFileWrite/1 us-over-two-bare write) us over two bare replace-file loops, which make four syncs | 4 syncs + 150 us |
| the same, 64 in flight | $(bench BenchmarkFileWrite/64 writes/s write) writes/s, $(bench BenchmarkFileWrite/64 ofbare write) of bare | 0.7 |
| the host for files by itself, alone and 64 in flight | $(bench BenchmarkWrite/1 ratio host) and $(bench BenchmarkWrite/64 ratio host) of bare | 0.7 |
| verdict over a million decoded records | $(bench BenchmarkMillion records/s verdict) records/s | 1,000,000 |
| re-hash of files of 4 KiB and of 64 KiB | $(bench BenchmarkFull/20000x4KiB of-bare-a-core rehash) and $(bench BenchmarkFull/2000x64KiB of-bare-a-core rehash) of open, read, SHA-256, a core | 0.8 |
| look at 20,000 files that did not change | $(bench BenchmarkStatRound/workers=0 us/file rehash) us a file | 15 us |
| \`iff demo\`, all of it | $demo s | 15 s |

Bare file writes are: write a file beside, sync, rename, sync the directory. Bare syncs are a write and fdatasync of a line.
A durable call makes its records durable twice, before the effect and before the reply; a file write syncs file and directory
between the two.
TEXT
} >"$out"
echo "wrote $out"
