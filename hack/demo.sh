#!/usr/bin/env bash
# The whole path on this machine: a real cluster, cuzk installed by Helm, a ProofJob applied with kubectl, proved in pods,
# verified, and its timings. Then once more from an input.json, with a witness generator that is compiled on the spot, and a
# proof of Filecoin's with parameters that are made on the spot.
#
# Needs Linux, root, Go and gcc; see test/cluster/README.md for the cluster. With CUZK_CLUSTER=external it runs against the
# cluster of KUBECONFIG instead, whose nodes must have the images that IMAGE_MANAGER and IMAGE_PROVER name.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
cluster=$root/test/cluster
ns=cuzk-demo
work=$(mktemp -d)
volume='' # a folder of the machine that its node sees too
trap 'jobs -p | xargs -r kill 2>/dev/null || true; rm -rf "$work" ${volume:+"$volume"}' EXIT

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

# filecoin: a window PoSt, with the files that its sample asks for on a volume of the cluster's first node.
filecoin() {
	volume=$(mktemp -d /opt/cuzk-demo-XXXXXX)
	bin/cuzk params generate window-post --sector-size 2KiB --params-dir "$volume/parameters" --insecure-known-secret demo
	bin/cuzk fabricate window-post --sector-size 2KiB --sectors 3 "$volume/window" >/dev/null
	mv "$volume/window/sectors.json" "$work"
	chmod -R a+rX "$volume"
	k delete proofjob,provingkey window-post-2kib --ignore-not-found --wait >/dev/null
	k delete pvc filecoin --ignore-not-found --wait >/dev/null
	"$cluster/kubectl" delete pv cuzk-demo --ignore-not-found --wait >/dev/null
	k apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: cuzk-demo}
		spec:
		  capacity: {storage: 1Gi}
		  accessModes: [ReadOnlyMany]
		  storageClassName: cuzk-demo
		  local: {path: $volume}
		  nodeAffinity:
		    required:
		      nodeSelectorTerms:
		        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [control-plane]}]
		---
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: filecoin}
		spec:
		  accessModes: [ReadOnlyMany]
		  storageClassName: cuzk-demo
		  volumeName: cuzk-demo
		  resources: {requests: {storage: 1Gi}}
	END
	show apply -f config/samples/filecoin/window-post-2kib.yaml
	follow window-post-2kib
	show get pj window-post-2kib -o wide
	k get proofjob window-post-2kib -o jsonpath='{.status.result.proof}' | base64 -d >"$work/proof.bin"
	printf '%s$ cuzk verify window-post proof.bin … # %s bytes%s\n' "$bold" "$(stat -c %s "$work/proof.bin")" "$plain"
	bin/cuzk verify window-post "$work/proof.bin" --registered-proof StackedDrgWindow2KiBV1_1 --sectors "$work/sectors.json" \
		--randomness "$(k get proofjob window-post-2kib -o jsonpath='{.spec.circuit.filecoinWindowPoSt.randomness}')" --params-dir "$volume/parameters"
	timings window-post-2kib
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

if [ "${CUZK_CLUSTER:-local}" = local ]; then
	say "A Filecoin proof: a window PoSt of three sectors of 2 KiB in two partitions, with parameters for tests, made now"
	filecoin
fi

say "Done. The cluster is still there"
cat <<-END
	  test/cluster/kubectl -n $ns describe pj membership    look around
	  test/cluster/kubectl explain pj.spec                  what a ProofJob can say
	  make cluster-down                                     end the cluster
END
