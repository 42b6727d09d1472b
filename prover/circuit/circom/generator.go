package circom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// wasmPage is WebAssembly's unit of memory.
const wasmPage = 64 << 10

// GeneratorOptions bound what a witness generator may use and say what becomes of its output.
type GeneratorOptions struct {
	// MemoryBytes is the most memory that the program may have; 0 means WebAssembly's own limit of 4 GiB.
	MemoryBytes int64
	// CacheFolder keeps compiled programs for later processes; empty means none. Whoever can write to it can run code
	// in the prover, so it must belong to the prover's user alone.
	CacheFolder string
	// Log gets the output of the circuit's log() calls, which prints signals; nil drops it.
	Log io.Writer
}

// Generator computes witnesses of one circuit with the program that circom --wasm wrote for it. The program has no
// file system, clock, randomness or network; nothing of one witness is seen by the next. It is safe for concurrent use.
type Generator struct {
	name    string
	options GeneratorOptions
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	program wazero.CompiledModule
}

// imports are the functions that circom's programs call.
var imports = []string{"exceptionHandler", "printErrorMessage", "writeBufferMessage", "showSharedRWMemory"}

// exports are the functions of circom 2's programs that are called here.
var exports = []string{"init", "getRawPrime", "getFieldNumLen32", "getSharedRWMemoryStart", "setInputSignal", "getInputSize",
	"getWitnessSize", "getWitness", "getMessageChar"}

// OpenGenerator compiles a witness generator. Errors are *failure.Error of class Key (the program), Usage or IO (the
// file).
func OpenGenerator(ctx context.Context, path string, options GeneratorOptions) (*Generator, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ParseGenerator(ctx, path, file.Bytes(), options)
}

// ParseGenerator is OpenGenerator for a program in memory; name is for messages.
func ParseGenerator(ctx context.Context, name string, program []byte, options GeneratorOptions) (*Generator, error) {
	var module []byte
	err := mapped.Guard(func() (err error) { module, err = boundedModule(name, program); return err })
	if err != nil {
		return nil, failure.InFile(err, name)
	}
	g := &Generator{name: name, options: options}
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithCoreFeatures(api.CoreFeaturesV1)
	if pages := options.MemoryBytes / wasmPage; pages > 0 && pages < 1<<16 {
		config = config.WithMemoryLimitPages(uint32(pages))
	}
	if options.CacheFolder != "" {
		if g.cache, err = wazero.NewCompilationCacheWithDir(options.CacheFolder); err != nil {
			return nil, failure.New(failure.IO, "open the folder for compiled programs: %w", err).In(options.CacheFolder).
				WithFix("name a folder that can be written to, or none")
		}
		config = config.WithCompilationCache(g.cache)
	}
	g.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := g.compile(ctx, module); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Generator) compile(ctx context.Context, module []byte) (err error) {
	if g.program, err = g.runtime.CompileModule(ctx, module); err != nil {
		// The engine's text tells where the program is malformed; a memory beyond the limit is reported here too.
		return failure.New(failure.Key, "cannot be compiled: %s", firstLine(err)).In(g.name).
			WithFix("hand in the .wasm that circom --wasm wrote; if it is the memory, allow the witness generator more")
	}
	const fix = "compile the circuit with circom 2 and --wasm"
	for _, f := range g.program.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != "runtime" || !slices.Contains(imports, name) {
			return failure.New(failure.Key, "wants the function %q.%q, which programs of circom 2 do not use", module, name).
				In(g.name).WithFix(fix)
		}
	}
	if len(g.program.ImportedMemories()) > 0 {
		return failure.New(failure.Key, "wants its memory from outside, which programs of circom 2 do not").In(g.name).WithFix(fix)
	}
	functions := g.program.ExportedFunctions()
	for _, name := range exports {
		if functions[name] == nil {
			return failure.New(failure.Key, "has no function %q: it is not a witness generator of circom 2", name).
				In(g.name).WithFix(fix)
		}
	}
	return g.provideImports(ctx)
}

// provideImports defines the module that programs import. The state of a run comes with the call's context.
func (g *Generator) provideImports(ctx context.Context) error {
	host := g.runtime.NewHostModuleBuilder("runtime")
	host.NewFunctionBuilder().WithFunc(func(ctx context.Context, code uint32) {
		runOf(ctx).raise(code)
	}).Export("exceptionHandler")
	host.NewFunctionBuilder().WithFunc(func(ctx context.Context) {
		runOf(ctx).errorMessage(ctx)
	}).Export("printErrorMessage")
	host.NewFunctionBuilder().WithFunc(func(ctx context.Context) {
		runOf(ctx).logMessage(ctx)
	}).Export("writeBufferMessage")
	host.NewFunctionBuilder().WithFunc(func(ctx context.Context) {
		runOf(ctx).logValue(ctx)
	}).Export("showSharedRWMemory")
	if _, err := host.Instantiate(ctx); err != nil {
		return fmt.Errorf("prepare the functions that %s imports: %w", g.name, err)
	}
	return nil
}

// Name is the path the program was opened by.
func (g *Generator) Name() string { return g.name }

// Close frees the compiled program. No run may be under way.
func (g *Generator) Close() error {
	ctx := context.Background()
	err := g.runtime.Close(ctx)
	if g.cache != nil {
		err = errors.Join(err, g.cache.Close(ctx))
	}
	return err
}

// firstLine is an error of the engine without its stack trace.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, " (recovered by wazero)")
}
