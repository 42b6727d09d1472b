package app

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/inspect"
	"github.com/cuzk-dev/cuzk/prover/source"
)

// circuitFlags name the files of a circuit and an input, for prove and bench.
type circuitFlags struct {
	provingKey, verifyingKey, constraintSystem, wasm string
	witness, input, solution                         string
	curveName, hashName                              string
	backend                                          string
	wasmLog                                          bool
	credentials                                      string
	digests                                          map[string]string

	// What follows from the flags, once check has passed.
	curve curve.ID
	hash  groth16.CommitmentHash
	// gnark says that the proving key is gnark's, not snarkjs's.
	gnark bool
}

const (
	backendAuto = "auto"
	backendCPU  = "cpu"
	backendCUDA = "cuda"
)

func (c *circuitFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.provingKey, "proving-key", "", "proving key: a .zkey of snarkjs, or gnark's in any of its encodings")
	f.StringVar(&c.verifyingKey, "verifying-key", "", "verifying key to check each proof with, vk.json or vk.bin (default: the one in the .zkey; gnark's keys do not hold it)")
	f.StringVar(&c.constraintSystem, "constraint-system", "", "constraint system: gnark's, or a .r1cs to name the constraint that a witness does not satisfy")
	f.StringVar(&c.witness, "witness", "", "witness: .wtns of circom, or gnark's full witness")
	f.StringVar(&c.wasm, "wasm", "", "witness generator that circom --wasm made, to compute the witness from --input")
	f.StringVar(&c.input, "input", "", "input.json for --wasm")
	f.StringVar(&c.solution, "solution", "", "solution of a gnark circuit whose hints are not linked in (R1CSSolution.WriteTo), in place of --witness")
	f.StringVar(&c.curveName, "curve", "", "refuse files on another curve: BN254 or BLS12-381")
	f.StringVar(&c.hashName, "commitment-hash", "", "hash of the commitments of a gnark circuit: sha256 (default), keccak256 or sha256-digest (Solidity verifiers)")
	f.StringVar(&c.backend, "backend", backendAuto, "where to compute: auto (GPUs if there are any that can be used, else the processor), cpu or cuda")
	f.BoolVar(&c.wasmLog, "wasm-log", false, "show what the circuit's log() prints; it may show signals of the witness")
	f.StringVar(&c.credentials, "credentials", "", "folder with credentials for files named by URI, one file each")
	f.StringToStringVar(&c.digests, "digest", nil, "pin a file: FLAG=sha256:HEX or FLAG=blake2b-512:HEX, for instance proving-key=sha256:…; needed for no path, wise for URIs")
}

// files lists the files that are named, by flag.
func (c *circuitFlags) files() map[string]string {
	all := map[string]string{
		"proving-key": c.provingKey, "verifying-key": c.verifyingKey, "constraint-system": c.constraintSystem,
		"wasm": c.wasm, "witness": c.witness, "input": c.input, "solution": c.solution,
	}
	for flag, path := range all {
		if path == "" {
			delete(all, flag)
		}
	}
	return all
}

// check refuses what does not fit together, before anything is read but the first bytes of the key.
func (c *circuitFlags) check() error {
	var err error
	if c.curve, err = parseCurve(c.curveName); err != nil {
		return err
	}
	if c.hash, err = groth16.ParseCommitmentHash(c.hashName); err != nil {
		return err
	}
	switch c.backend {
	case backendAuto, backendCPU, backendCUDA:
	default:
		return failure.New(failure.Usage, "--backend %s: use auto, cpu or cuda", c.backend)
	}
	files := c.files()
	for flag, d := range c.digests {
		if files[flag] == "" {
			return failure.New(failure.Usage, "--digest %s=…: no such file is given", flag).WithFix("name a flag that takes a file, for instance proving-key")
		}
		if _, err := source.ParseDigest(d); err != nil {
			return failure.New(failure.Usage, "--digest %s: %w", flag, err)
		}
	}
	switch given := c.inputs(); {
	case len(given) == 0 && c.wasm != "":
		return failure.New(failure.Usage, "--wasm needs --input").WithFix("name the input.json")
	case len(given) == 0:
		return failure.New(failure.Usage, "a witness is missing").WithFix("give --witness, or --wasm and --input")
	case len(given) > 1:
		return failure.New(failure.Usage, "%s exclude each other", strings.Join(given, " and "))
	case c.input != "" && c.wasm == "":
		return failure.New(failure.Usage, "--input needs --wasm").WithFix("name the circuit's witness generator, which circom --wasm makes")
	case c.wasm != "" && c.input == "":
		return failure.New(failure.Usage, "--wasm needs --input, not %s", given[0])
	}
	return nil
}

func (c *circuitFlags) inputs() (given []string) {
	for _, f := range []struct{ flag, value string }{{"--witness", c.witness}, {"--input", c.input}, {"--solution", c.solution}} {
		if f.value != "" {
			given = append(given, f.flag)
		}
	}
	return given
}

// recognise finds out whose key it is and refuses flags that the other kind has.
func (c *circuitFlags) recognise(key *os.File) error {
	kind, err := kindOfFile(key)
	if err != nil {
		return failure.New(failure.IO, "%w", err).In(c.provingKey)
	}
	switch kind {
	case inspect.Zkey:
		for flag, value := range map[string]string{"--solution": c.solution, "--commitment-hash": c.hashName} {
			if value != "" {
				return failure.New(failure.Usage, "%s is for gnark's circuits, but %s is a %s", flag, c.provingKey, kind.Title())
			}
		}
	case inspect.R1CS, inspect.Wtns, inspect.Wasm, inspect.GnarkConstraints, inspect.GnarkWitness:
		return failure.New(failure.Usage, "is a %s, not a proving key", kind.Title()).In(c.provingKey).
			WithFix("check the order of the files: PROVING_KEY WITNESS PROOF PUBLIC")
	default: // the reader of gnark's keys says what is wrong with anything else that is no .zkey
		if namedZkey(c.provingKey) {
			return nil
		}
		c.gnark = true
		if c.wasm != "" {
			return failure.New(failure.Usage, "--wasm is for circom's circuits, but %s is no .zkey", c.provingKey)
		}
		if c.constraintSystem == "" {
			return failure.New(failure.Usage, "is not a .zkey, and a gnark circuit needs --constraint-system").In(c.provingKey).
				WithFix("name the file that gnark's constraint system was written to; for circom, name a .zkey")
		}
	}
	return nil
}

// namedZkey tells, of a file that is not recognised, whether it is a damaged .zkey rather than gnark's: its name
// decides.
func namedZkey(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zkey") }

// provePositions are prove's arguments in the order that users of snarkjs and rapidsnark know.
func provePositions(c *circuitFlags, proof, public *string) []named {
	return []named{{"PROVING_KEY", "proving-key", &c.provingKey}, {"WITNESS", "witness", &c.witness}, {"PROOF", "proof", proof}, {"PUBLIC", "public", public}}
}

// bindProve binds arguments by position. With --input or --solution there is no witness among them.
func bindProve(cmd *cobra.Command, args []string, c *circuitFlags, proof, public *string) error {
	positions := provePositions(c, proof, public)
	if c.input != "" || c.solution != "" {
		positions = append(positions[:1:1], positions[2:]...)
	}
	if err := bind(cmd, args, positions); err != nil {
		return err
	}
	for _, p := range positions {
		if p.name != "WITNESS" && *p.value == "" {
			return failure.New(failure.Usage, "%s is missing", p.name).WithFix("give it by position, or as --%s", p.flag)
		}
	}
	return nil
}
