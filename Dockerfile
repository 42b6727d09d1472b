# The images of cuzk: targets `manager`, `prover` (CPU) and `prover-cuda`.
#
#   docker build --target manager -t cuzk-manager:dev .
#
# Everything here works with BuildKit and with the legacy builder (DOCKER_BUILDKIT=0, Docker 20.10): so no `RUN --mount`
# and no here-documents; downloads and compilation are layers of their own, which both builders cache. Stages are in the
# order manager, prover, prover-cuda, since the legacy builder runs all that stand before its target.
#
# Every base is an argument: set them to mirrors, or to images of your own where no registry can be reached. A release
# sets them to digests.
ARG GO_IMAGE=docker.io/library/golang:1.26.8-bookworm
ARG STATIC_IMAGE=gcr.io/distroless/static-debian12:nonroot
ARG GLIBC_IMAGE=gcr.io/distroless/cc-debian12:nonroot
ARG CUDA_IMAGE=docker.io/nvidia/cuda:13.0.1-base-ubuntu24.04
# With nvcc; or a Debian or Ubuntu whose C library is not newer than that of CUDA_IMAGE, where nvcc is installed with pip.
ARG CUDA_BUILD_IMAGE=docker.io/nvidia/cuda:13.0.1-devel-ubuntu24.04

# --- sources: modules first, so that a change of code downloads nothing --------------------------------------------
FROM ${GO_IMAGE} AS sources
# Passed through for builds behind a proxy, with a private checksum database, or from a vendored tree (-mod=vendor).
ARG GOPROXY
ARG GOSUMDB
ARG GONOSUMDB
ARG GOPRIVATE
ARG GOFLAGS
# BuildKit sets these for --platform; the legacy builder leaves them empty, which means the machine's own.
ARG TARGETOS
ARG TARGETARCH
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src
COPY go.mod go.sum ./
RUN case " ${GOFLAGS} " in *-mod=vendor*) ;; *) go mod download ;; esac
COPY . .

# --- manager --------------------------------------------------------------------------------------------------------
FROM sources AS build-manager
ARG VERSION=dev
ARG COMMIT=unknown
RUN mkdir -p /out/licenses \
 && GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath \
      -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" -o /out/manager ./cmd/manager \
 && cp LICENSE /out/licenses/ \
 && go run ./hack/licenses -notices /out/licenses/THIRD_PARTY_NOTICES ./cmd/manager

FROM ${STATIC_IMAGE} AS manager
ARG VERSION=dev
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="cuzk manager" \
      org.opencontainers.image.description="Operator that proves Groth16 on the GPU nodes of a Kubernetes cluster" \
      org.opencontainers.image.source="https://github.com/cuzk-dev/cuzk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=build-manager /out/manager /manager
COPY --from=build-manager /out/licenses /licenses
# A number, so that runAsNonRoot can be checked without a passwd file.
USER 65532:65532
ENTRYPOINT ["/manager"]

# --- prover ---------------------------------------------------------------------------------------------------------
FROM sources AS build-prover
ARG VERSION=dev
ARG COMMIT=unknown
RUN mkdir -p /out/licenses \
 && GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath \
      -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" -o /out/cuzk ./cmd/cuzk \
 && cp LICENSE /out/licenses/ \
 && go run ./hack/licenses -notices /out/licenses/THIRD_PARTY_NOTICES ./cmd/cuzk

# glibc, though the binary is built without cgo: GPU libraries are opened at run time and want the system's loader.
FROM ${GLIBC_IMAGE} AS prover
ARG VERSION=dev
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="cuzk prover" \
      org.opencontainers.image.description="Groth16 prover for circom and gnark circuits on BN254 and BLS12-381" \
      org.opencontainers.image.source="https://github.com/cuzk-dev/cuzk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      dev.cuzk.backends="cpu"
COPY --from=build-prover /out/cuzk /usr/local/bin/cuzk
COPY --from=build-prover /out/licenses /licenses
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/cuzk"]

# --- prover-cuda: the same binary, with the CUDA library beside it ---------------------------------------------------
FROM ${CUDA_BUILD_IMAGE} AS build-libcuzk
# source compiles the library for the architectures named, such as "90 120"; prebuilt takes the bin/libcuzk.so that
# `make cuda` has left in the build context.
ARG LIBCUZK_FROM=source
ARG CUDA_ARCHS=release
# Passed through for the pip that installs nvcc where the image has none.
ARG PIP_INDEX_URL
WORKDIR /src
RUN [ "${LIBCUZK_FROM}" = prebuilt ] || { command -v g++ && command -v make && { command -v nvcc || command -v python3; }; } || \
      { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ make python3 python3-venv; }
# Before the sources, so that a change of code downloads nothing.
COPY hack/cuda ./hack/cuda
RUN [ "${LIBCUZK_FROM}" = prebuilt ] || hack/cuda/toolkit
# The bracket makes a pattern of the name, which may match nothing.
COPY Makefile bin/libcuzk.s[o] ./prebuilt/
COPY Makefile ./
COPY make ./make
COPY cuda ./cuda
RUN mkdir /out && case "${LIBCUZK_FROM}" in \
      prebuilt) cp prebuilt/libcuzk.so /out/ ;; \
      *) make cuda ARCHS="${CUDA_ARCHS}" && cp bin/libcuzk.so /out/ ;; \
    esac

FROM ${CUDA_IMAGE} AS prover-cuda
ARG VERSION=dev
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="cuzk prover (CUDA)" \
      org.opencontainers.image.description="Groth16 prover for circom and gnark circuits on BN254 and BLS12-381, on NVIDIA GPUs" \
      org.opencontainers.image.source="https://github.com/cuzk-dev/cuzk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      dev.cuzk.backends="cuda,cpu"
# What the container runtime has to mount of the driver.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=build-prover /out/cuzk /usr/local/bin/cuzk
COPY --from=build-libcuzk /out/libcuzk.so /usr/local/bin/libcuzk.so
COPY --from=build-prover /out/licenses /licenses
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/cuzk"]
