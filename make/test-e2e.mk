##@ End-to-end tests (test/e2e)

E2E_FLAGS ?=

.PHONY: test-e2e
test-e2e: ## Install on a real cluster of two nodes and test as a user would (E2E_FLAGS; KEEP=1 keeps the cluster)
	@cd $(ROOT) && hack/e2e.sh $(E2E_FLAGS)

.PHONY: test-e2e-long
test-e2e-long: ## Of the same, prove Filecoin's circuits of millions of constraints too, which takes minutes (E2E_FLAGS; CUZK_E2E_PARAMETERS names a folder that keeps the parameters)
	@cd $(ROOT) && CUZK_TEST_LONG=1 hack/e2e.sh -run TestFilecoin $(E2E_FLAGS)
