#!/bin/sh
# From a downloaded skill to a loaded one, in a directory that goes away again.
set -eu
cd "$(dirname "$0")/.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/iff" ./cmd/iff
cp -R examples/invoice-reports "$work/invoice-reports"
head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/passphrase"
cd "$work"
run() {
  printf '\n$ %s\n' "$*"
  PATH="$work:$PATH" "$@"
}
run iff init --home home --operator me --passphrase-file passphrase
run iff skill adopt --home home invoice-reports
run iff skill verify --home home invoice-reports
printf '\n$ echo >> invoice-reports/scripts/list.sh\n'
echo >>invoice-reports/scripts/list.sh
run iff skill verify --home home invoice-reports && exit 1
run iff skill diff --home home invoice-reports && exit 1
printf '\nthe change was found, as it should be\n'
run iff audit verify --home home
log=home/log/00000000000000000000.jsonl
printf '\n$ sed -i s/unverified/formal/ %s\n' "$log"
sed s/unverified/formal/ "$log" >changed
cat changed >"$log"
run iff audit verify --home home && exit 1
printf '\nand so was this one\n'
