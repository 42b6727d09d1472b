##@ CUDA engine (cuda/)

# Architectures of bin/libcuzk.so, such as "90 120"; "release" is all that are supported, and PTX of the oldest.
ARCHS ?= 90
RELEASE_ARCHS := 80 86 89 90 100 120
CUDA_ARCHS = $(if $(filter release,$(ARCHS)),$(RELEASE_ARCHS),$(ARCHS))
# Objects are kept by content, for all clones.
CACHED := $(ROOT)/hack/cuda/cached
CUDA_JOBS ?= $(shell nproc)
EMULATED_LIBRARY := $(ROOT)/cuda/build/libcuzk-emulated.so

.PHONY: cuda
cuda: ## Build bin/libcuzk.so with nvcc 13.0, which is installed into a cache if there is none (ARCHS="90 120", ARCHS=release)
	@mkdir -p $(BIN)
	$(ROOT)/hack/cuda/gxx >/dev/null
	export CUDA_HOME="$$($(ROOT)/hack/cuda/toolkit)" && \
	$(MAKE) -C $(ROOT)/cuda -j$(CUDA_JOBS) lib ARCHS="$(CUDA_ARCHS)" NVCC="$(CACHED) $$CUDA_HOME/bin/nvcc" NVCCFLAGS="-O3 -Xptxas -v"
	$(ROOT)/hack/cuda/check-spills $(ROOT)/cuda/build/device-$(subst $(eval) ,-,$(strip $(CUDA_ARCHS)))
	cp $(ROOT)/cuda/build/device-$(subst $(eval) ,-,$(strip $(CUDA_ARCHS)))/libcuzk.so $(BIN)/libcuzk.so

.PHONY: cuda-emulated
cuda-emulated: ## Build the library on the emulator, which runs its kernels on the CPU, for tests
	$(MAKE) -C $(ROOT)/cuda -j$(CUDA_JOBS) lib-emulated CXX="$(CACHED) $$($(ROOT)/hack/cuda/gxx)"

.PHONY: test-cuda
test-cuda: cuda-emulated ## Test the CUDA engine without a GPU: its kernels and the prover on the emulator; compile it with nvcc
	$(MAKE) -C $(ROOT)/cuda -j$(CUDA_JOBS) test-emulated CXX="$(CACHED) g++"
	cd $(ROOT) && CUZK_LIBRARY=$(EMULATED_LIBRARY) go test -count=1 $(TEST_FLAGS) ./prover/groth16/backend/cuda/
	$(MAKE) cuda
	cd $(ROOT) && CUZK_LIBRARY=$(EMULATED_LIBRARY) CUZK_DEVICE_LIBRARY=$(BIN)/libcuzk.so go test -tags cuda -count=1 $(TEST_FLAGS) \
	  -run 'OnTheEmulator|EmulatedDevice|WithoutADriver' ./cmd/cuzk ./prover/pipeline

# A folder for a machine with a GPU, where suite checks and figures measures.
BUNDLE ?= $(BIN)/cuda-bundle

.PHONY: cuda-bundle
cuda-bundle: ## Pack the CUDA engine's tests and benchmarks for a machine with a GPU, which needs its driver alone (BUNDLE, ARCHS, CUZK_FIXTURES)
	ARCHS="$(CUDA_ARCHS)" $(ROOT)/hack/cuda/bundle $(BUNDLE)

.PHONY: test-gpu-proofs
test-gpu-proofs: ## Have snarkjs and gnark verify the proofs that the suite of a bundle left (PROOFS=folder)
	cd $(ROOT) && CUZK_PROOFS=$(abspath $(PROOFS)) go test -tags interop -count=1 -v -run OthersVerifyProofsMadeElsewhere ./test/interop
