# Part of "Generated code" (generate.mk).

GENERATED_TARGETS += rbac

.PHONY: rbac
rbac: $(BIN)/controller-gen ## Generate the manager's role from the markers in controllers/
	cd $(ROOT) && $(BIN)/controller-gen rbac:roleName=cuzk-manager paths=./controllers/... output:rbac:artifacts:config=config/rbac
