package synthesis

import (
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// Circuit is what a parameter file of a constraint system has to fit.
func Circuit(s *structure.Structure) *filparams.Circuit {
	return filparams.CircuitOfAux(s.Inputs, s.Aux, s.Constraints, s.DensityA().Bits(), s.DensityB().Bits())
}
