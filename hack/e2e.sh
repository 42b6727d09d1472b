#!/usr/bin/env bash
# End-to-end tests: a cluster of two nodes, cuzk installed by its chart, and the tests of test/e2e against it. The cluster
# has a name of its own, so that one of `make cluster-up` is left alone, and is ended afterwards unless KEEP=1.
#
#   hack/e2e.sh [FLAGS OF go test]
#
# With CUZK_CLUSTER=external the tests run against the cluster of KUBECONFIG, where cuzk is installed already.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
cluster=$root/test/cluster

if [ "${CUZK_CLUSTER:-local}" = local ]; then
	export CUZK_CLUSTER_NAME=${CUZK_CLUSTER_NAME:-e2e} CUZK_CLUSTER_NODE_GRACE=${CUZK_CLUSTER_NODE_GRACE:-12s}
	finish() { if [ "${KEEP:-0}" = 0 ]; then "$cluster/run" down; fi; }
	trap finish EXIT
	"$cluster/run" down >/dev/null 2>&1 || true
	"$cluster/run" up
	"$cluster/run" node-add 2
	tag=$(hack/load-images.sh)
	"$cluster/enter" "$("$cluster/tool" helm)" upgrade --install cuzk charts/cuzk --namespace cuzk-system --create-namespace \
		--wait --timeout 5m \
		--set image.repository=cuzk.dev/local/cuzk-manager --set image.tag="$tag" \
		--set prover.image.repository=cuzk.dev/local/cuzk-prover --set prover.image.tag="$tag" \
		--set prover.cudaImage.repository=cuzk.dev/local/cuzk-prover --set prover.cudaImage.tag="$tag" \
		--set nodeSelector.'kubernetes\.io/hostname'=control-plane \
		--set leaderElection.leaseDuration=6s --set leaderElection.renewDeadline=4s --set leaderElection.retryPeriod=1s \
		--set extraArgs='{--node-dead-after=5s}' >/dev/null
fi
go test -tags e2e -count=1 -timeout 30m -exec "$cluster/enter" "$@" ./test/e2e/...
