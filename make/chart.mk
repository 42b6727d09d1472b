##@ Chart

GENERATED_TARGETS += chart

.PHONY: chart
chart: manifests rbac ## Write what the chart takes from config/ and values.yaml: CRDs, policies, roles, schema, README
	cd $(ROOT) && go run ./hack/chartgen

.PHONY: verify-chart
verify-chart: ## Fail if the chart is not what `make chart` would write
	cd $(ROOT) && go run ./hack/chartgen -check

.PHONY: test-chart
test-chart: $(BIN)/helm $(BIN)/kubectl ## Lint the chart and test what it renders
	$(BIN)/helm lint --strict $(ROOT)/charts/cuzk
	cd $(ROOT) && HELM=$(BIN)/helm KUBECTL=$(BIN)/kubectl go test -tags chart ./test/chart/...
