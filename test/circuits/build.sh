#!/usr/bin/env bash
# Makes the sample circuits' files: constraints, witness, proving key and verifying key, under <prime>/<circuit>/.
#
# INSECURE TEST KEYS: their toxic waste follows from the constants below, so anybody can forge proofs. They are for tests
# and demonstrations alone.
#
# Everything here is deterministic (the keys' only contribution is a beacon), so a second run gives the same
# bytes. Needs go and node; circom2 and snarkjs are installed into a cache folder (test/interop/npm.sh).
#
#   build.sh                               make all
#   build.sh wasm DIR [PRIME/CIRCUIT]...   make only witness generators (all, or those named), as
#                                          DIR/<prime>/<circuit>.wasm; they are never checked in
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# circuit, power of the ceremony
SAMPLES_bls12381="merkle16:12 merkle3:10 multiplier:8 bits:8"
SAMPLES_bn128="merkle3:10 multiplier:8 bits:8"
BEACON=0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20

tools=$(../interop/npm.sh)/node_modules/.bin

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

if [[ ${1:-} == wasm ]]; then
  out=$(mkdir -p "$2" && cd "$2" && pwd)
  wanted=("${@:3}")
  if [[ ${#wanted[@]} == 0 ]]; then
    for prime in bls12381 bn128; do
      samples=SAMPLES_$prime
      for sample in ${!samples}; do wanted+=("$prime/${sample%:*}"); done
    done
  fi
  for sample in "${wanted[@]}"; do
    prime=${sample%/*} circuit=${sample#*/}
    [[ -e src/$circuit.circom && -d src/$prime ]] || { echo "build.sh: there is no sample circuit $sample" >&2; exit 1; }
    mkdir -p "$out/$prime"
    compile "$prime" "$circuit" "$work" --wasm
    cp "$work/${circuit}_js/$circuit.wasm" "$out/$prime/$circuit.wasm"
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
    for input in "$out"/input*.json; do
      witness=$(basename "${input/input/witness}" .json).wtns
      snarkjs wtns calculate "$work/${circuit}_js/$circuit.wasm" "$input" "$out/$witness"
    done
    tau=$work/$prime-$power.ptau
    if [[ ! -e $tau ]]; then
      go run ./gen ceremony "$prime" "$power" "$tau"
    fi
    snarkjs groth16 setup "$work/$circuit.r1cs" "$tau" "$work/initial.zkey"
    snarkjs zkey beacon "$work/initial.zkey" "$out/$circuit.zkey" $BEACON 10
    snarkjs zkey export verificationkey "$out/$circuit.zkey" "$out/vk.json"
    for witness in "$out"/*.wtns; do
      snarkjs wtns check "$out/$circuit.r1cs" "$witness"
    done
  done
done
