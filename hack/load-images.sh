#!/usr/bin/env bash
# Builds manager and prover from this tree, makes images of them without Docker, and loads them into the local cluster
# (test/cluster). Prints the tag that both have: it names the binaries' content, so that a change is a new tag and an
# unchanged tree loads nothing anew.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cluster=$root/test/cluster
out=$root/bin/images
prefix=cuzk.dev/local
mkdir -p "$out"

make --no-print-directory -C "$root" build >&2
tag=dev-$(cat "$root/bin/manager" "$root/bin/cuzk" | sha256sum | cut -c1-12)

# image NAME ENTRYPOINT: the program with the shared libraries it names, as a user that is not root.
image() {
	local archive=$out/$1-$tag.tar
	if [ ! -e "$archive" ]; then
		rm -f "$out/$1-"*.tar
		"$cluster/mkimage" -o "$archive.part" -t "$prefix/cuzk-$1:$tag" -user 65532:65532 -users -libraries \
			-entrypoint "$2" "$root/bin/$(basename "$2")=$2" >&2
		mv "$archive.part" "$archive"
	fi
	"$cluster/load-image" "$prefix/cuzk-$1:$tag" "$archive" >&2
}
image manager /manager
image prover /usr/local/bin/cuzk
echo "$tag"
