##@ Checks

# Built from the module proxy; the versions are in hack/tools/lint/go.mod.
$(BIN)/golangci-lint: $(wildcard $(ROOT)/hack/tools/lint/*)
	cd $(ROOT)/hack/tools/lint && go build -o $@ .

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run golangci-lint with the Kubernetes API rules (LINT_FLAGS, LINT_PACKAGES)
	cd $(ROOT) && $(BIN)/golangci-lint run $(LINT_FLAGS) $(or $(LINT_PACKAGES),./...)

.PHONY: lint-fix
lint-fix: ## Repair what golangci-lint can repair itself
	$(MAKE) lint LINT_FLAGS=--fix

.PHONY: licenses
licenses: ## Check the licences of what is linked in and what is checked in; write bin/THIRD_PARTY_NOTICES
	@mkdir -p $(BIN)
	cd $(ROOT) && go run ./hack/licenses -tree . -notices $(BIN)/THIRD_PARTY_NOTICES ./cmd/...
