##@ Local cluster (test/cluster/README.md)

CLUSTER := $(ROOT)/test/cluster/run

# Programs that are built like the cluster's parts.
$(BIN)/helm $(BIN)/kubectl $(BIN)/kwok:
	@mkdir -p $(BIN)
	@ln -sf "$$($(ROOT)/test/cluster/tool $(notdir $@))" $@
