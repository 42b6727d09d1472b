##@ Tests against an API server (test/apiserver)

# The folder with etcd, kube-apiserver and kubectl; built from Go modules unless named.
ENVTEST_ASSETS = $(or $(KUBEBUILDER_ASSETS),$(shell $(ROOT)/test/cluster/tool envtest))
APISERVER_TEST_FLAGS ?=

.PHONY: test-apiserver
test-apiserver: $(BIN)/helm ## Run the tests against a real API server: schema, rules, policies (APISERVER_TEST_FLAGS)
	cd $(ROOT) && HELM=$(BIN)/helm KUBEBUILDER_ASSETS=$(ENVTEST_ASSETS) go test -tags apiserver -count=1 $(APISERVER_TEST_FLAGS) ./test/apiserver/...
