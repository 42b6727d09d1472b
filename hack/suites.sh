#!/usr/bin/env bash
# Runs test suites one after the other and tells the time and the machine's peak memory of each.
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

# Memory in use on the machine, in MiB: what a suite starts in containers counts too.
used() { awk '/^MemTotal/ {t = $2} /^MemAvailable/ {a = $2} END {print int((t - a) / 1024)}' /proc/meminfo; }

# watch_memory FILE: keep the highest reading in FILE until killed.
watch_memory() {
	local peak=0 now
	while :; do
		now=$(used)
		if [ "$now" -gt "$peak" ]; then
			peak=$now
			echo "$peak" >"$1"
		fi
		sleep 1
	done
}

for suite in "$@"; do
	name=${suite%%=*} target=${suite#*=}
	printf '\n=== %s (make %s)\n' "$name" "$target"
	before=$SECONDS
	watch_memory "$logs/$name.peak" &
	watcher=$!
	make --no-print-directory -C "$root" "$target" </dev/null 2>&1 | tee "$logs/$name.log"
	status=${PIPESTATUS[0]}
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	verdict=ok
	if [ "$status" -ne 0 ]; then
		verdict="FAILED ($status), see $logs/$name.log"
		failed=$((failed + 1))
	fi
	rows+=("$(printf '%-12s %6d s %8s MiB  %s' "$name" $((SECONDS - before)) "$(cat "$logs/$name.peak")" "$verdict")")
done

printf '\n%-12s %8s %12s  %s\n' suite wall 'peak in use' result
printf '%s\n' "${rows[@]}"
printf '%-12s %6d s\n\n' all $((SECONDS - start))
# One line that any runner understands.
printf '%d passed, %d failed\n' $((${#rows[@]} - failed)) "$failed"
[ "$failed" -eq 0 ]
