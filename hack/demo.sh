#!/usr/bin/env bash
# The whole path on this machine: a real cluster, cuzk installed by Helm, a ProofJob applied with kubectl, proved in pods,
# verified, and its timings. Then once more from an input.json, with a witness generator that is compiled on the spot.
#
# Needs Linux, root, Go and gcc; see test/cluster/README.md for the cluster. With CUZK_CLUSTER=external it runs against the
# cluster of KUBECONFIG instead, whose nodes must have the images that IMAGE_MANAGER and IMAGE_PROVER name.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
cluster=$root/test/cluster
ns=cuzk-demo
work=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2>/dev/null || true; rm -rf "$work"' EXIT

if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
say() { printf '\n%s==> %s%s\n' "$bold" "$*" "$plain"; }
k() { "$cluster/kubectl" -n "$ns" "$@"; }
# show COMMAND...: print a kubectl command as a user would type it, and run it.
show() { printf '%s$ kubectl %s%s\n' "$bold" "$*" "$plain"; k "$@"; }

# follow JOB: print what `kubectl get --watch` shows until the job has ended; fail unless it is Complete.
follow() {
	printf '%s$ kubectl get proofjob %s --watch%s\n' "$bold" "$1" "$plain"
	k get proofjob "$1" --watch &
	local watch=$!
	k wait proofjob "$1" --for=jsonpath='{.status.completionTime}' --timeout=10m >/dev/null
	sleep 1 # let the watch print the last line
	kill "$watch" 2>/dev/null || true
	wait "$watch" 2>/dev/null || true
	if [ "$(k get proofjob "$1" -o jsonpath='{.status.state}')" != Succeeded ]; then
		k describe proofjob "$1" >&2
		echo "demo: the job did not succeed" >&2
		exit 1
	fi
}

# verify JOB INPUT...: take each input's proof and public inputs out of the status and verify them here.
verify() {
	local job=$1 name
	shift
	for name in "$@"; do
		k get proofjob "$job" -o jsonpath="{.status.partitions[?(@.input==\"$name\")].report.proof}" >"$work/proof.json"
		k get proofjob "$job" -o jsonpath="{.status.partitions[?(@.input==\"$name\")].report.publicInputs}" >"$work/public.json"
		printf '\n%s: public inputs %s\n%s: proof %s\n' "$name" "$(cat "$work/public.json")" "$name" "$(cut -c1-100 "$work/proof.json")…"
		printf '%s$ cuzk verify vk.json public.json proof.json%s\n' "$bold" "$plain"
		bin/cuzk verify test/circuits/bls12381/merkle3/vk.json "$work/public.json" "$work/proof.json"
	done
}

timings() {
	printf '\n%-10s %8s %8s %8s %8s %8s %8s  %s\n' input queue srs synth gpu verify total 'node (times in ms)'
	k get proofjob "$1" -o go-template='{{range .status.partitions}}{{.input}} {{.report.timings.queueMilliseconds}} {{.report.timings.srsMilliseconds}} {{.report.timings.synthMilliseconds}} {{.report.timings.gpuMilliseconds}} {{.report.timings.verifyMilliseconds}} {{.report.timings.totalMilliseconds}} {{.report.node}}{{"\n"}}{{end}}' |
		awk '{printf "%-10s %8s %8s %8s %8s %8s %8s  %s\n", $1, $2, $3, $4, $5, $6, $7, $8}'
}

manager=${IMAGE_MANAGER:-} prover=${IMAGE_PROVER:-}
if [ "${CUZK_CLUSTER:-local}" = local ]; then
	say "Start a real cluster on this machine (its parts are built from Go modules the first time, which takes about 20 minutes)"
	"$cluster/run" up
	say "Build cuzk and load its images into the cluster"
	tag=$(hack/load-images.sh)
	manager=cuzk.dev/local/cuzk-manager:$tag prover=cuzk.dev/local/cuzk-prover:$tag
else
	make --no-print-directory build-cuzk
fi

say "Install cuzk by Helm"
"$cluster/enter" "$("$cluster/tool" helm)" upgrade --install cuzk charts/cuzk --namespace cuzk-system --create-namespace --wait --timeout 3m \
	--set image.repository="${manager%:*}" --set image.tag="${manager##*:}" \
	--set prover.image.repository="${prover%:*}" --set prover.image.tag="${prover##*:}" \
	--set prover.cudaImage.repository="${prover%:*}" --set prover.cudaImage.tag="${prover##*:}" | grep -v '^$' | head -8

say "Apply the sample ProofJob: three people prove that they are in a Merkle tree (Poseidon, BLS12-381)"
k create namespace "$ns" --dry-run=client -o yaml | k apply -f - >/dev/null
k label namespace "$ns" pod-security.kubernetes.io/enforce=restricted --overwrite >/dev/null
k delete proofjob --all --wait >/dev/null
show apply --server-side -k config/samples/membership
follow membership
show get pj -o wide
verify membership alice bob carol
timings membership

say "Once more, from an input.json: the witness is computed in the pod by circom's program, compiled now"
test/circuits/build.sh wasm "$work/wasm" bls12381/merkle3
k create configmap membership-generator --from-file=merkle3.wasm="$work/wasm/bls12381/merkle3.wasm" --dry-run=client -o yaml | k apply --server-side -f - >/dev/null
k create configmap membership-input --from-file=test/circuits/bls12381/merkle3/input.json --dry-run=client -o yaml | k apply -f - >/dev/null
show apply -f config/samples/input-json.yaml
follow membership-from-input
verify membership-from-input alice
timings membership-from-input

say "Done. The cluster is still there"
cat <<-END
	  test/cluster/kubectl -n $ns describe pj membership    look around
	  test/cluster/kubectl explain pj.spec                  what a ProofJob can say
	  make cluster-down                                     end the cluster
END
