#!/bin/bash
# Compiles the kernels of transforms and fails if one has not the registers that it is made for: 80, so that 24 warps run on a
# multiprocessor, and next to nothing spilled. Run from cuda/, for all files of kernels or those named; needs nvcc (NVCC, or CUDA_HOME, or in PATH).
set -euo pipefail
NVCC=${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/}nvcc}
most_registers=80
most_spilled=${MOST_SPILLED:-160}  # bytes a thread, which runs 5,000 to 8,000 instructions
[ $# -gt 0 ] || set -- ntt/kernels/*.cu
for source; do
  "$NVCC" -std=c++17 --expt-relaxed-constexpr -O3 -arch=sm_90 -I. -Xptxas -v -cubin -o /dev/null "$source" 2>&1
done | awk -v registers=$most_registers -v spilled=$most_spilled '
  /Compiling entry function/ { kernel = $0; sub(/.*function ./, "", kernel); sub(/. for .*/, "", kernel) }
  /bytes spill stores/ { spill = $5 + 0 }
  /Used [0-9]+ registers/ && kernel ~ /pass_kernel/ {
    used = $5 + 0
    kernels++
    if (used > most) most = used
    if (spill > worst) worst = spill
    if (used > registers || spill > spilled) { bad++; print kernel ": " used " registers, " spill " bytes spilled" }
  }
  /error/ { bad++; print }
  END {
    print kernels + 0 " kernels, at most " most + 0 " registers and " worst + 0 " bytes spilled"
    exit bad > 0 || kernels == 0
  }'
