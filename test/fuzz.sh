#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for a time each.
#
#   test/fuzz.sh [TIME] [PATTERN]    # 60s; only targets whose package/name contains PATTERN
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-60s}
pattern=${2:-}
failed=() ran=0
while IFS=: read -r file target; do
	package=./$(dirname "$file")
	[[ $package/$target == *$pattern* ]] || continue
	ran=$((ran + 1))
	printf '\n--- %s %s\n' "$package" "$target"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 500x "$package" || failed+=("$package $target")
done < <(grep -rHoE --include='*_test.go' '^func (Fuzz[A-Za-z0-9_]+)' cmd prover controllers api 2>/dev/null | sed -E 's/func //')
printf '\n%d passed, %d failed\n' $((ran - ${#failed[@]})) ${#failed[@]}
if [ ${#failed[@]} -gt 0 ]; then
	printf '%s\n' "${failed[@]}"
	exit 1
fi
[ "$ran" -gt 0 ] || { echo "no fuzz target found"; exit 1; }
