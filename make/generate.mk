##@ Generated code

CONTROLLER_GEN := $(BIN)/controller-gen
GENERATE_MODULE := $(ROOT)/hack/tools/generate
BOILERPLATE := hack/boilerplate.go.txt
# Descriptions of the upstream types inside ours are cut to whole sentences of at most this length, so that a CRD stays
# below 100 KB. Ours are shorter; a test says so.
CRD_DESCRIPTION_LENGTH := 232

# What makes checked-in files; verify-generated runs all of it. Other parts of the build add to it.
GENERATED_TARGETS += generate manifests api-docs

$(CONTROLLER_GEN): $(GENERATE_MODULE)/go.mod $(GENERATE_MODULE)/go.sum
	@mkdir -p $(BIN)
	cd $(GENERATE_MODULE) && go build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deep copies and apply configurations of the API types
	cd $(ROOT) && $(CONTROLLER_GEN) object:headerFile=$(BOILERPLATE) applyconfiguration:headerFile=$(BOILERPLATE) paths=./api/v1alpha1

.PHONY: manifests
manifests: $(CONTROLLER_GEN) ## Generate the CustomResourceDefinitions
	cd $(ROOT) && $(CONTROLLER_GEN) crd:maxDescLen=$(CRD_DESCRIPTION_LENGTH) paths=./api/v1alpha1 output:crd:artifacts:config=config/crd/bases

.PHONY: verify-generated
verify-generated: $(CONTROLLER_GEN) ## Prove generated files fresh, on a copy of the tree
	hack/verify-generated.sh $(BIN) $(GENERATED_TARGETS)

.PHONY: api-docs
api-docs: manifests ## Generate docs/reference/api.md from the CustomResourceDefinitions
	cd $(ROOT) && go run ./hack/apidocs
