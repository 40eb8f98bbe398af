#!/usr/bin/env bash
# Measures what stands between an agent and its tools, and writes
# docs/performance-agents.md. Run it on a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
out=docs/performance-agents.md
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
median() { sort -n | awk '{v[NR]=$1} END {print v[int((NR + 1) / 2)]}'; }
bench() { # name, unit, file: the median over the runs
  awk -v n="$1" -v u="$2" '$1 ~ "^"n"(-[0-9]+)?$" {for (i = 2; i < NF; i++) if ($(i + 1) == u) print $i}' "$work/$3" | median
}

go test -run='^$' -bench='^BenchmarkUpstream$' -count=3 ./internal/mcpgate >"$work/upstream"
go test -run='^$' -bench='^BenchmarkDecide$' -count=3 ./broker >"$work/decide"
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/iff" ./cmd/iff

printf 'a passphrase' >"$work/pass"
mkdir "$work/notes"
"$work/iff" --home "$work/home" init --operator me --corpus "$work/notes" --passphrase-file "$work/pass" >/dev/null
"$work/iff" --home "$work/home" serve --detach >/dev/null
idle=$(awk '/VmRSS/ {print $2 / 1024}' "/proc/$("$work/iff" --home "$work/home" status --json | awk -F'[:,]' '/"pid"/ {print $2 + 0}' | head -n 1)/status")
call='{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/t","cwd":"/","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"}'
hook=$(for _ in $(seq 20); do
  from=$(date +%s%N)
  "$work/iff" --home "$work/home" hook --agent claude-code <<<"$call" >/dev/null 2>&1 || true
  echo $((($(date +%s%N) - from) / 1000))
done | median)
start=$(for _ in $(seq 20); do
  from=$(date +%s%N)
  "$work/iff" version >/dev/null
  echo $((($(date +%s%N) - from) / 1000))
done | median)
size=$(stat -c %s "$work/iff")
"$work/iff" --home "$work/home" serve --stop >/dev/null

{
  cat <<TEXT
# Performance between agent and tools

Made by \`docs/measure-agents.sh\`: $(go version | cut -d' ' -f3-4), $(nproc) cores,
$(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo), $(uname -sr). Medians of three runs; absolute times move with the machine.

| what | measured | to hold |
|---|---|---|
| a call of a reading tool through iff to an upstream, alone: p50 | $(bench BenchmarkUpstream/1 p50-us upstream) us, of the bare upstream $(bench BenchmarkUpstream/1 bare-p50-us upstream) us, so $(bench BenchmarkUpstream/1 over-p50-us upstream) us over that and two fdatasyncs of $(bench BenchmarkUpstream/1 sync-us upstream) us | 300 us |
| 16 in flight | $(bench BenchmarkUpstream/16 calls/s upstream) calls/s, where the bare upstream gives $(bench BenchmarkUpstream/16 bare/s upstream) | 3,000 |
| 16 in flight, p99: what the gateway adds | $(bench BenchmarkUpstream/16 over-p99-us upstream) us: $(bench BenchmarkUpstream/16 p99-us upstream) us through iff, $(bench BenchmarkUpstream/16 bare-p99-us upstream) us of the bare upstream | 5,000 us |
| one decision of a policy: on a file, a host, an amount | $(bench BenchmarkDecide/file ns/op decide), $(bench BenchmarkDecide/net ns/op decide), $(bench BenchmarkDecide/pay ns/op decide) ns | 3,000 ns |
| \`iff hook\`, the whole process, which denies and reports | $hook us | 20,000 us |
| the runtime with nothing to do | $idle MiB | 40 MB |
| the binary, and its start | $((size / 1048576)) MiB, $start us | 40 MB, 50,000 us |

What the gateway adds is, in one run, the 99th percentile of the calls through iff less that of the same calls of the bare upstream,
made in turns with them. It includes the syncs.
TEXT
} >"$out"
echo "wrote $out"
