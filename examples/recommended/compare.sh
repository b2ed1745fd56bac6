#!/usr/bin/env bash
# Decides the worlds in reports/, which users of the replaced systems reported, with
# the default params and with params.yaml, and prints both. Fails if one of them is
# wrong with params.yaml. EDICT is the program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
edict="${EDICT:-edict}"

decide() { if "$edict" test "$@" >/dev/null 2>&1; then echo right; else echo wrong; fi; }

failed=0
printf '%-9s %-12s %s\n' default recommended report
for report in reports/*.yaml; do
  default="$(decide "$report")"
  recommended="$(decide --params params.yaml "$report")"
  printf '%-9s %-12s %s\n' "$default" "$recommended" "$(sed -n '2s/^# //p' "$report")"
  [ "$recommended" = right ] || failed=1
done
exit "$failed"
