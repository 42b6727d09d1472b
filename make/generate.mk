##@ Generated code

CONTROLLER_GEN := $(BIN)/controller-gen
GENERATE_MODULE := $(ROOT)/hack/tools/generate

$(CONTROLLER_GEN): $(GENERATE_MODULE)/go.mod $(GENERATE_MODULE)/go.sum
	@mkdir -p $(BIN)
	cd $(GENERATE_MODULE) && go build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deep copies and apply configurations of the API types
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt applyconfiguration:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: $(CONTROLLER_GEN) ## Generate the CustomResourceDefinitions
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=config/crd/bases
