package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda"
)

// devicesJSON is what `cuzk devices --output json` prints.
type devicesJSON struct {
	Library string       `json:"library"`
	Build   string       `json:"build"`
	Devices []deviceJSON `json:"devices"`
}

type deviceJSON struct {
	UUID              string `json:"uuid"`
	Name              string `json:"name"`
	PCI               string `json:"pci"`
	ComputeCapability string `json:"computeCapability"`
	// DriverCUDA and LibraryCUDA are versions of CUDA: what the driver knows, and what the library is built with.
	DriverCUDA      string `json:"driverCUDA"`
	LibraryCUDA     string `json:"libraryCUDA"`
	Multiprocessors int    `json:"multiprocessors"`
	MemoryBytes     int64  `json:"memoryBytes"`
	FreeBytes       int64  `json:"freeBytes"`
	// Native is false where kernels are compiled on first use.
	Native bool `json:"native"`
	// SelfTest is passed, failed or skipped; Reason says why the device cannot be used.
	SelfTest            string  `json:"selfTest"`
	Reason              string  `json:"reason,omitempty"`
	OpenMilliseconds    float64 `json:"openMilliseconds"`
	PrepareMilliseconds float64 `json:"prepareMilliseconds"`
}

func (a *app) devicesCommand() *cobra.Command {
	var skip bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the GPUs that proofs can be computed on, and test them",
		Long: `List the GPUs that proofs can be computed on, with their memory, and test each: small circuits are proved on it and compared
with what must come out. A GPU that fails computes no proofs.

Without the CUDA library, a driver or a GPU it ends with exit code 6 and the reason. CUDA_VISIBLE_DEVICES chooses GPUs.`,
		Example: "  cuzk devices\n  cuzk devices --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			keepKernels(a.privateFolder("kernels"))
			survey, err := cuda.Look(!skip)
			if err != nil {
				return err
			}
			out := devicesOf(survey)
			if a.flags.output == outputJSON {
				return a.printJSON(out)
			}
			return a.print("%s", out.text())
		},
	}
	cmd.Flags().BoolVar(&skip, "skip-self-test", false, "list only")
	return cmd
}

func devicesOf(s *cuda.Survey) *devicesJSON {
	out := &devicesJSON{Library: s.Library, Build: s.Build, Devices: []deviceJSON{}}
	for _, d := range s.Devices {
		j := deviceJSON{
			UUID: d.UUID, Name: d.Name, PCI: d.PCI, ComputeCapability: fmt.Sprintf("%d.%d", d.ComputeMajor, d.ComputeMinor),
			DriverCUDA: cudaVersion(d.DriverCUDA), LibraryCUDA: cudaVersion(d.LibraryCUDA), Multiprocessors: d.Multiprocessors,
			MemoryBytes: d.TotalBytes, FreeBytes: d.FreeBytes, Native: d.Native, SelfTest: "skipped",
			OpenMilliseconds: d.OpenMilliseconds, PrepareMilliseconds: d.PrepareMilliseconds,
		}
		switch {
		case d.Fault != nil:
			j.SelfTest, j.Reason = "failed", d.Fault.Error()
		case d.Tested:
			j.SelfTest = "passed"
		}
		out.Devices = append(out.Devices, j)
	}
	return out
}

// cudaVersion writes 13020 as 13.2.
func cudaVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

func (j *devicesJSON) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "library %s: %s\n", j.Library, j.Build)
	for _, d := range j.Devices {
		fmt.Fprintf(&b, "\n%s\n  %s, compute capability %s, PCI %s\n", d.UUID, d.Name, d.ComputeCapability, d.PCI)
		fmt.Fprintf(&b, "  memory %s, %s free; the driver knows CUDA %s, the library is built with %s\n",
			formatBytes(d.MemoryBytes), formatBytes(d.FreeBytes), d.DriverCUDA, d.LibraryCUDA)
		kernels := "kernels loaded"
		if !d.Native {
			kernels = "kernels compiled (no machine code for this GPU in the library)"
		}
		switch {
		case d.Reason != "":
			fmt.Fprintf(&b, "  self-test failed: %s\n", d.Reason)
		case d.SelfTest == "passed":
			fmt.Fprintf(&b, "  self-test passed; opened in %.0f ms, %s in %.0f ms\n", d.OpenMilliseconds, kernels, d.PrepareMilliseconds)
		}
	}
	return b.String()
}
