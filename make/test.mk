##@ Tests

# The suites of `make test`, in order: what is quick and what tells most comes first.
SUITES := lint=lint generated=verify-generated licenses=licenses unit=test-unit chart=test-chart \
	interop=test-interop cuda=test-cuda apiserver=test-apiserver e2e=test-e2e

.PHONY: test
test: ## Run every suite that fits a pull request, and print the time of each
	hack/suites.sh $(SUITES)

.PHONY: test-long
test-long: ## Run what takes long: fuzzing of every reader, the race detector, the Dockerfile, Filecoin's large circuits
	hack/suites.sh fuzz=test-fuzz race=test-race docker=test-docker filecoin=test-filecoin-long e2e=test-e2e-long
