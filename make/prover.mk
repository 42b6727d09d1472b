##@ Build and prover

# VERSION and COMMIT are those of the images (images.mk).
BUILD_LDFLAGS = -X main.version=$(VERSION) -X main.commit=$(COMMIT)

.PHONY: build
build: build-cuzk build-manager ## Build bin/cuzk and bin/manager

.PHONY: build-cuzk
build-cuzk: ## Build bin/cuzk
	@mkdir -p $(BIN)
	cd $(ROOT) && go build -ldflags '$(BUILD_LDFLAGS)' -o $(BIN)/cuzk ./cmd/cuzk

.PHONY: build-manager
build-manager: ## Build bin/manager
	@mkdir -p $(BIN)
	cd $(ROOT) && go build -ldflags '$(BUILD_LDFLAGS)' -o $(BIN)/manager ./cmd/manager

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster, no GPU and no network
	cd $(ROOT) && go test -timeout 30m $(TEST_FLAGS) ./...

.PHONY: test-interop
test-interop: ## Prove and verify against snarkjs, circom and gnark (installs them with npm into a cache)
	cd $(ROOT) && go test -tags interop -timeout 30m $(TEST_FLAGS) ./test/interop/... ./prover/circuit/circom

# How long each fuzz target runs.
FUZZ_TIME ?= 60s

.PHONY: test-fuzz
test-fuzz: ## Fuzz every reader, FUZZ_TIME each (60s)
	cd $(ROOT) && test/fuzz.sh $(FUZZ_TIME)

.PHONY: test-race
test-race: ## Run the unit tests with the race detector
	cd $(ROOT) && go test -race -short $(TEST_FLAGS) ./...

BENCH_RUNS ?= 5

.PHONY: bench
bench: build-cuzk ## Measure cuzk prove against snarkjs and gnark on this machine (BENCH_RUNS, BENCH_FLAGS)
	cd $(ROOT) && go run ./test/perf -runs $(BENCH_RUNS) $(BENCH_FLAGS)

.PHONY: docs-cli
docs-cli: ## Write docs/reference/cli.md from the commands
	cd $(ROOT) && CUZK_WRITE_DOCS=1 go test -count=1 -run TestReferenceIsFresh ./cmd/cuzk/app
