##@ Local cluster (test/cluster/README.md)

CLUSTER := $(ROOT)/test/cluster/run

.PHONY: cluster-build
cluster-build: ## Build what the cluster is made of (20 min at first, then cached for all clones)
	@$(CLUSTER) build

.PHONY: cluster-up
cluster-up: ## Start a real cluster on this machine (root, Linux)
	@$(CLUSTER) up

.PHONY: cluster-down
cluster-down: ## End it and remove what it had on the machine
	@$(CLUSTER) down

.PHONY: cluster-status
cluster-status: ## Show its nodes and pods
	@$(CLUSTER) status

.PHONY: cluster-kubectl
cluster-kubectl: ## Run kubectl in it: make cluster-kubectl ARGS="get pods -A"
	@$(ROOT)/test/cluster/kubectl $(ARGS)

.PHONY: cluster-check
cluster-check: ## Smoke-test the running cluster: Job, GPUs, exec, logs, API from a pod
	@$(ROOT)/test/cluster/check

# Programs that are built like the cluster's parts.
$(BIN)/helm $(BIN)/kubectl $(BIN)/kwok:
	@mkdir -p $(BIN)
	@ln -sf "$$($(ROOT)/test/cluster/tool $(notdir $@))" $@

.PHONY: test-docker
test-docker: ## Build the Dockerfile's targets with a Docker daemon of our own and run them in the cluster
	@$(ROOT)/test/cluster/check-dockerfile
