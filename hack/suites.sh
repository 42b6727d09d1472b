#!/usr/bin/env bash
# Runs test suites one after the other and tells the time and peak memory of each.
#
#   hack/suites.sh NAME=TARGET [NAME=TARGET ...]
#
# Each TARGET is a make target. All suites run, also after one has failed, so that one run tells all there is to mend;
# the exit status is non-zero if any failed. A suite's output goes to the terminal and to $SUITES_LOG/NAME.log.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=${SUITES_LOG:-$root/bin/test-logs}
mkdir -p "$logs"
rows=()
failed=0
start=$SECONDS

for suite in "$@"; do
	name=${suite%%=*} target=${suite#*=}
	printf '\n=== %s (make %s)\n' "$name" "$target"
	before=$SECONDS
	# Peak memory is that of the largest single process, as wait4 tells it.
	python3 - "$root" "$target" "$logs/$name.rss" 2>&1 <<-'PY' | tee "$logs/$name.log"
		import os, resource, subprocess, sys
		root, target, rss = sys.argv[1:]
		code = subprocess.call(["make", "--no-print-directory", "-C", root, target], stdin=subprocess.DEVNULL)
		with open(rss, "w") as f:
		    f.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024))
		sys.exit(code if code >= 0 else 128 - code)
	PY
	status=${PIPESTATUS[0]}
	verdict=ok
	if [ "$status" -ne 0 ]; then
		verdict="FAILED ($status)"
		failed=$((failed + 1))
	fi
	rows+=("$(printf '%-14s %6d s %8s MiB  %s' "$name" $((SECONDS - before)) "$(cat "$logs/$name.rss" 2>/dev/null || echo '?')" "$verdict")")
done

printf '\n%-14s %8s %12s  %s\n' suite wall 'peak memory' result
printf '%s\n' "${rows[@]}"
printf '%-14s %6d s\n' all $((SECONDS - start))
# One line that any runner understands.
printf '%d passed, %d failed\n' $((${#rows[@]} - failed)) "$failed"
[ "$failed" -eq 0 ]
