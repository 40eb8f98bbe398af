#!/bin/sh
# list.sh QUARTER: the invoices of one quarter, sorted by due date.
set -eu
quarter="${1:?usage: list.sh QUARTER}"
mkdir -p reports/out
cat "reports/$quarter"/*.csv | sort -t, -k3 > reports/out/list.txt
