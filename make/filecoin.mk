##@ Filecoin

# Curio's vanilla proof of a real sector of 32 GiB. The test that reads it knows its digest.
CURIO_COMMIT := e0294b0f948132d41e8f42f59fa949495d5fd3af
CURIO_POST ?= $(HOME)/.cache/cuzk/curio-$(CURIO_COMMIT)/post.vproof

$(CURIO_POST):
	@mkdir -p $(@D)
	curl -fsSL -o $@.part https://raw.githubusercontent.com/filecoin-project/curio/$(CURIO_COMMIT)/lib/proof/testgolden/post.vproof
	mv $@.part $@

.PHONY: filecoin-test-data
filecoin-test-data: $(CURIO_POST) ## Download the vanilla proof of a real 32 GiB sector

# Packages whose tests do more with CUZK_TEST_LONG.
FILECOIN_LONG := ./prover/circuit/filecoin/... ./prover/provingkey/filparams/... ./prover/filecoin/... ./prover/groth16/backend/cpu ./cmd/cuzk

.PHONY: test-filecoin-long
test-filecoin-long: filecoin-test-data ## Run the tests of Filecoin's circuits that take minutes: digests, whole proofs, partitions of 32 GiB
	cd $(ROOT) && CUZK_TEST_LONG=1 CUZK_CURIO_POST=$(CURIO_POST) go test -timeout 2h $(TEST_FLAGS) $(FILECOIN_LONG)
