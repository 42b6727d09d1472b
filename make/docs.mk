##@ Documentation

.PHONY: docs-manager
docs-manager: ## Write docs/reference/manager.md from the manager's flags
	cd $(ROOT) && CUZK_WRITE_DOCS=1 go test -count=1 -run TestReferenceIsFresh ./cmd/manager
