#!/bin/sh
# list.sh QUARTER: prints the invoices of one quarter, sorted by due date.
set -eu
sort -t, -k3 "reports/${1:?usage: list.sh QUARTER}"/*.csv
