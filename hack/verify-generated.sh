#!/usr/bin/env bash
# Proves that generated files that are checked in are what their generators write now: runs the generators on a copy of
# the working tree and compares. The tree itself is not touched.
#
#   hack/verify-generated.sh BIN TARGET...
#
# BIN is the folder of built tools; each TARGET is a make target that generates.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/checked-in" "$work/generated"
# What git would commit: tracked and new files, without ignored and deleted ones.
(cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
	if [ -e "$f" ]; then printf '%s\0' "$f"; fi
done | tar --null -T - -cf "$work/tree.tar")
tar -C "$work/checked-in" -xf "$work/tree.tar"
tar -C "$work/generated" -xf "$work/tree.tar"
make --no-print-directory -C "$work/generated" BIN="$bin" "$@"
if ! diff -r --exclude=bin "$work/checked-in" "$work/generated"; then
	echo "generated files are stale: run 'make $*' and commit the result" >&2
	exit 1
fi
echo "generated files are fresh ($*)"
