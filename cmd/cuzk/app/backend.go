package app

import (
	"errors"
	"os"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// backendWish is what is asked of a backend, on the command line or by a pod's order. Zero leaves a choice to it.
type backendWish struct {
	name string
	// memory bounds what keys and proofs take on the host.
	memory int64
	// proofs is how many the processor computes at once, proofsPerGPU how many each GPU does.
	proofs, proofsPerGPU int
	// copyThreads is how many threads copy to each GPU.
	copyThreads int
	// kernelCache is where the driver keeps kernels that it has compiled, if the environment does not say.
	kernelCache string
}

// openBackend makes the backend that is asked for; auto takes GPUs if there are any that can be used, with the processor
// behind them for what they cannot or may not compute, and else says why it takes the processor.
func (a *app) openBackend(w backendWish) (groth16.Backend, error) {
	budget := memory.NewBudget(w.memory)
	processor := cpu.New(cpu.Config{Memory: budget, Threads: a.flags.threads, Proofs: w.proofs}) // Close has nothing to do
	if w.name == backendCPU {
		return processor, nil
	}
	keepKernels(w.kernelCache)
	config := cuda.Config{Memory: budget, ProofsPerDevice: w.proofsPerGPU, CopyThreads: w.copyThreads, Log: a.log}
	if w.name == backendAuto {
		config.Fallback = processor
	}
	b, err := cuda.New(config)
	if err == nil {
		return b, nil
	}
	if w.name == backendCUDA {
		return nil, err
	}
	reason := err
	if known := (*failure.Error)(nil); errors.As(err, &known) {
		reason = known.Err // without what to do: nothing needs to be done
	}
	a.log.Info("Chose the CPU backend", "reason", reason.Error())
	return processor, nil
}

// cacheVariable is the CUDA driver's.
const cacheVariable = "CUDA_CACHE_PATH"

// keepKernels names a folder for compiled kernels: the driver's own choice is in the home folder, which a container with a
// read-only root does not have. Without one, the driver compiles each time.
func keepKernels(folder string) {
	if folder == "" || os.Getenv(cacheVariable) != "" {
		return
	}
	_ = os.Setenv(cacheVariable, folder) // it fails for a malformed name only
}
