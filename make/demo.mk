##@ Try it

.PHONY: demo
demo: ## Start a cluster here, install cuzk, prove the samples, verify, show the timings (root, Linux)
	@$(ROOT)/hack/demo.sh
