#!/usr/bin/env bash
# Makes the sample circuits' files: constraints, witness, proving key and verifying key, under <prime>/<circuit>/.
#
# INSECURE TEST KEYS: their toxic waste follows from the constants below, so anybody can forge proofs. They are for tests
# and demonstrations alone.
#
# Everything here is deterministic (the keys' only contribution is a beacon), so a second run gives the same
# bytes. Needs go, node and npm; circom2 and snarkjs are installed into a cache folder.
#
#   build.sh           make all
#   build.sh wasm DIR  make only the witness generators, as DIR/<prime>/<circuit>.wasm; they are never checked in
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

CIRCOM_VERSION=0.2.23
SNARKJS_VERSION=0.7.6
# circuit, power of the ceremony
SAMPLES_bls12381="merkle16:12 multiplier:8 bits:8"
SAMPLES_bn128="merkle3:10 multiplier:8 bits:8"
BEACON=0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20

node_folder="${CUZK_CACHE:-$HOME/.cache/cuzk}/node"
tools="$node_folder/node_modules/.bin"

install_tools() {
  command -v npm >/dev/null || { echo "build.sh: npm is missing: install Node.js 18 or later" >&2; exit 1; }
  local have
  have=$(cd "$node_folder" 2>/dev/null && node -p \
    "require('./node_modules/circom2/package.json').version + ' ' + require('./node_modules/snarkjs/package.json').version" \
    2>/dev/null || true)
  [[ $have == "$CIRCOM_VERSION $SNARKJS_VERSION" ]] && return
  mkdir -p "$node_folder"
  npm install --prefix "$node_folder" --no-audit --no-fund --silent \
    "circom2@$CIRCOM_VERSION" "snarkjs@$SNARKJS_VERSION"
}

# compile PRIME CIRCUIT FOLDER FLAGS...
compile() {
  local prime=$1 circuit=$2 folder=$3
  shift 3
  "$tools/circom2" "src/$circuit.circom" -l "src/$prime" --prime "$prime" -o "$folder" "$@" >"$folder/log" ||
    { cat "$folder/log" >&2; exit 1; }
}

snarkjs() { "$tools/snarkjs" "$@" >"$work/log" || { cat "$work/log" >&2; exit 1; }; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
install_tools

if [[ ${1:-} == wasm ]]; then
  out=$(mkdir -p "$2" && cd "$2" && pwd)
  for prime in bls12381 bn128; do
    mkdir -p "$out/$prime"
    samples=SAMPLES_$prime
    for sample in ${!samples}; do
      circuit=${sample%:*}
      compile "$prime" "$circuit" "$work" --wasm
      cp "$work/${circuit}_js/$circuit.wasm" "$out/$prime/$circuit.wasm"
    done
  done
  exit
fi

go run ./gen .
for prime in bls12381 bn128; do
  samples=SAMPLES_$prime
  for sample in ${!samples}; do
    circuit=${sample%:*} power=${sample#*:} out=$prime/${sample%:*}
    echo "$out"
    compile "$prime" "$circuit" "$work" --r1cs --wasm
    cp "$work/$circuit.r1cs" "$out/"
    node "$tools/snarkjs" wtns calculate "$work/${circuit}_js/$circuit.wasm" "$out/input.json" "$out/witness.wtns" >"$work/log"
    tau=$work/$prime-$power.ptau
    if [[ ! -e $tau ]]; then
      go run ./gen ceremony "$prime" "$power" "$tau"
    fi
    snarkjs groth16 setup "$work/$circuit.r1cs" "$tau" "$work/initial.zkey"
    snarkjs zkey beacon "$work/initial.zkey" "$out/$circuit.zkey" $BEACON 10
    snarkjs zkey export verificationkey "$out/$circuit.zkey" "$out/vk.json"
    snarkjs wtns check "$out/$circuit.r1cs" "$out/witness.wtns"
  done
done
