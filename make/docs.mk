##@ Documentation

GENERATED_TARGETS += cli-reference

.PHONY: cli-reference
cli-reference: ## Write docs/reference/cli.md out of the help texts of cuzk
	@mkdir -p $(BIN)
	cd $(ROOT) && go build -o $(BIN)/cuzk ./cmd/cuzk
	cd $(ROOT) && go run ./hack/clireference -program $(BIN)/cuzk > docs/reference/cli.md.new
	mv $(ROOT)/docs/reference/cli.md.new $(ROOT)/docs/reference/cli.md
