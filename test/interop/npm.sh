#!/usr/bin/env bash
# Installs snarkjs, circom2 and circomlib at pinned versions into a folder of its own, and prints that folder.
#
#   test/interop/npm.sh            # installs if needed; the path is the only line on standard output
#
# They are used at test and benchmark time only: circomlib is GPL-3, and nothing made from it goes into the repository.
# The folder is ${CUZK_CACHE:-$HOME/.cache/cuzk}/node. Node is installed with apt when it is missing and we are root.
set -euo pipefail

snarkjs=0.7.6
circom2=0.2.23
circomlib=2.0.5

dir=${CUZK_CACHE:-$HOME/.cache/cuzk}/node
stamp="snarkjs@$snarkjs circom2@$circom2 circomlib@$circomlib"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
		echo "node and npm are missing: install Node.js 18 or later" >&2
		exit 1
	fi
	echo "installing Node.js with apt" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >&2
	apt-get install -y -qq --no-install-recommends nodejs npm >&2
fi

mkdir -p "$dir"
exec 9>"$dir/.lock"
flock 9
if [ "$(cat "$dir/.installed" 2>/dev/null)" != "$stamp" ]; then
	rm -rf "$dir/node_modules" "$dir/package.json" "$dir/package-lock.json" "$dir/.installed"
	echo '{"private": true}' >"$dir/package.json"
	# --ignore-scripts: none of them needs one, and a test has no business running strangers' scripts.
	# shellcheck disable=SC2086
	npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --save-exact --loglevel=error $stamp >&2
	echo "$stamp" >"$dir/.installed"
fi
echo "$dir"
