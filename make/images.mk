##@ Images

# What images are called; a tag of the current commit unless VERSION says otherwise.
IMAGE_PREFIX ?= cuzk
VERSION ?= $(shell git -C $(ROOT) describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT ?= $(shell git -C $(ROOT) rev-parse HEAD 2>/dev/null || echo unknown)
DOCKER ?= docker
# Handed to the build if set in the environment: mirrors, proxies, other bases.
DOCKER_BUILD_ARGS ?= $(foreach v,GO_IMAGE STATIC_IMAGE GLIBC_IMAGE CUDA_IMAGE CUDA_BUILD_IMAGE CUDA_ARCHS LIBCUZK_FROM PIP_INDEX_URL GOPROXY GOSUMDB GONOSUMDB GOPRIVATE,$(if $($(v)),--build-arg $(v)=$($(v))))
DOCKER_BUILD_FLAGS ?=

docker-build-%:
	$(DOCKER) build --target $* $(DOCKER_BUILD_FLAGS) $(DOCKER_BUILD_ARGS) \
	  --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t $(IMAGE_PREFIX)-$*:$(VERSION) $(ROOT)

.PHONY: docker-build
docker-build: docker-build-manager docker-build-prover docker-build-prover-cuda ## Build all images with Docker (IMAGE_PREFIX, VERSION, DOCKER_BUILD_FLAGS)
