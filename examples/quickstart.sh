#!/bin/sh
# The four commands of docs/quickstart.md with a real opencode, whose model is
# played. What they print is compared with the page; with -update it is written
# there.
#
#   examples/quickstart.sh DIR [-update]      DIR: filled by test/e2e/install
set -eu
cd "$(dirname "$0")/.."
root="$(pwd)"
agents="$(cd "${1:?the directory that test/e2e/install has filled}" && pwd)"
work="$(mktemp -d /var/tmp/iff-quickstart-XXXXXX)"
model=""
finish() {
  [ -z "$model" ] || kill "$model" 2>/dev/null || true
  iff serve --stop >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/bin/iff" ./cmd/iff
go build -o "$work/bin/playmodel" ./test/e2e/playmodel
mkdir -p "$work/home/notes/.opencode/skills" "$work/home/.config/opencode" "$work/home/notes/reports/2025-q3" "$work/home/notes/reports/out" "$work/shown"
export HOME="$work/home" PATH="$work/bin:$agents/node_modules/.bin:$PATH"
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
cd "$HOME/notes"
git init -q .
cp -R "$root/examples/invoice-reports" .opencode/skills/
printf 'number,due,amount,paid\nA-17,2025-09-30,120.00,no\n' >reports/2025-q3/acme.csv
head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/passphrase"

# What the model does: it follows the skill.
cat >"$work/steps.json" <<'JSON'
[
  {"tool": "iff_list_skills", "args": {}},
  {"tool": "iff_use_skill", "args": {"name": "invoice-reports"}},
  {"tool": "iff_fs_read", "args": {"path": "reports/2025-q3/acme.csv"}},
  {"tool": "bash", "args": {"command": "echo total > reports/total.txt", "description": "note the total"}},
  {"tool": "iff_fs_write", "args": {"path": "reports/out/2025-q3.md", "content": "# Q3\n\nOpen: 120.00\nOverdue: A-17\n", "reasoning": "step 2 of the skill"}},
  {"tool": "iff_end_round", "args": {}}
]
JSON
playmodel "$work/steps.json" >"$work/url" &
model=$!
until [ -s "$work/url" ]; do sleep 0.1; done
# Where it reaches npm it installs its plugin library below .opencode, some time
# after it has started. That is guarded: the verdict would say so, or not, by chance.
echo "registry=http://127.0.0.1:9/" >"$HOME/.npmrc"
cat >"$HOME/.config/opencode/config.json" <<JSON
{
  "autoupdate": false,
  "share": "disabled",
  "provider": {"played": {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "$(cat "$work/url")/v1", "apiKey": "none"},
    "models": {"script": {"tool_call": true}}
  }},
  "model": "played/script",
  "small_model": "played/script"
}
JSON

# show NAME WORDS... runs a command and keeps what a person would see.
show() {
  name="$1"
  shift
  printf '$' >"$work/shown/$name"
  for word; do
    case "$word" in *" "*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done >>"$work/shown/$name"
  echo >>"$work/shown/$name"
  "$@" >>"$work/shown/$name" 2>&1 || { cat "$work/shown/$name"; exit 1; }
}
hidden() { # the part of the command line that a terminal would ask for
  sed -i.bak "s| --passphrase-file $work/passphrase||; s| --yes||; s| --level user,project||" "$work/shown/$1"
}
# As root it would be the managed level, in /etc.
show connect iff connect opencode . --level user,project --yes --passphrase-file "$work/passphrase"
hidden connect
show agent timeout 120 opencode run "Report the open invoices of 2025-q3." &
agent=$!
tries=0
until id="$(iff inbox --json | sed -n 's/.*"request": "\([^"]*\)".*/\1/p' | head -n 1)" && [ -n "$id" ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] || { cat "$work/shown/agent"; echo "nothing was asked"; exit 1; }
  sleep 0.2
done
show inbox iff approve --yes --passphrase-file "$work/passphrase" "$id"
hidden inbox
wait "$agent"
show verdict iff verdict
sed -i.bak 's/^\$ timeout 120 /$ /' "$work/shown/agent"
[ -s reports/out/2025-q3.md ] && [ ! -e reports/total.txt ]

# What is another with each run.
for f in connect agent inbox verdict; do
  sed -E -e "s|$work/bin/iff|/usr/local/bin/iff|g" -e "s|$work/home|~|g" -e "s|$work/||g" -e 's/\x1b\[[0-9;]*m//g' \
    -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}([ T])[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?/2025-11-03\109:00:00/g' \
    -e 's/ to [0-9]{2}:[0-9]{2}:[0-9]{2}/ to 09:00:20/' -e 's/[0-9a-f]{64}/.../g' -e 's/\b[0-9a-f]{12}\b/.../g' \
    -e 's|SHA256:[A-Za-z0-9+/]{43}|SHA256:...|g' -e 's|iff/log/[0-9a-f]+|iff/log/...|' -e 's/uid-[0-9]+/uid-1000/' \
    -e 's/owner [0-9]+:[0-9]+/owner 1000:1000/' -e 's/records 0 to [0-9]+/records 0 to 33/' -e 's/record [0-9]+,/record 23,/' \
    -e 's/\br[0-9]+\.[0-9]+\b/r1.2/g' -e 's/\bs[0-9]+\.[0-9]+\b/s1.2/g' -e 's/runtime [0-9]+$/runtime 1/' "$work/shown/$f" >"$work/shown/$f.txt"
  cat "$work/shown/$f.txt"
  echo
done
awk -v dir="$work/shown/" '
  /^<!-- shown: / { print; f = dir $3 ".txt"; getline; print; while ((getline line < f) > 0) print line; skip = 1; next }
  /^```$/ { skip = 0 }
  !skip { print }
' "$root/docs/quickstart.md" >"$work/quickstart.md"
if [ "${2:-}" = -update ]; then
  cp "$work/quickstart.md" "$root/docs/quickstart.md"
else
  diff -u "$root/docs/quickstart.md" "$work/quickstart.md" || { echo "docs/quickstart.md is not what the commands print: examples/quickstart.sh DIR -update"; exit 1; }
fi
