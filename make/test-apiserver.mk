##@ Tests against an API server

# The folder with etcd, kube-apiserver and kubectl; built from Go modules unless named.
ENVTEST_ASSETS = $(or $(KUBEBUILDER_ASSETS),$(shell $(ROOT)/test/cluster/tool envtest))
APISERVER_TEST_FLAGS ?=

.PHONY: test-apiserver
test-apiserver: $(BIN)/helm ## Run the tests against a real API server: schema, rules, policies, operator, worker (APISERVER_TEST_FLAGS)
	# One package at a time: each starts an API server.
	cd $(ROOT) && HELM=$(BIN)/helm KUBEBUILDER_ASSETS=$(ENVTEST_ASSETS) go test -tags apiserver -count=1 -p 1 -timeout 20m $(APISERVER_TEST_FLAGS) \
	  ./test/apiserver/... ./controllers/integration/... ./prover/worker/
