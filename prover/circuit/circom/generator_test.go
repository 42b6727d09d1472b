package circom

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

func parseInput(t *testing.T, text string) *Input {
	t.Helper()
	in, err := ParseInput("input.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func generate(t *testing.T, ctx context.Context, p program, options GeneratorOptions) (*Witness, error) {
	t.Helper()
	g, err := ParseGenerator(ctx, "circuit.wasm", p.assemble(), options)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	return g.Witness(ctx, parseInput(t, `{"x": 7}`))
}

func TestGeneratorComputesAWitness(t *testing.T) {
	for _, id := range curve.All {
		w, err := generate(t, t.Context(), program{prime: id, imports: imports}, GeneratorOptions{CacheFolder: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if w.Curve() != id || w.Len() != 3 {
			t.Errorf("%d elements on %s, want 3 on %s", w.Len(), w.Curve(), id)
		}
		got := make([]curve.Scalar, 3)
		if err := w.Read(t.Context(), 0, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]curve.Scalar{{1}, {1}, {1}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		raw := w.raw
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if slices.Max(raw) != 0 {
			t.Error("a closed witness stays in memory")
		}
	}
}

func TestGeneratorRefusesOtherPrograms(t *testing.T) {
	good := program{}.assemble()
	for name, c := range map[string]struct {
		module []byte
		want   string
	}{
		"text":             {[]byte(`{"x": 1}`), "is not a WebAssembly module"},
		"empty":            {nil, "is not a WebAssembly module"},
		"truncated":        {good[:len(good)-20], "truncated"},
		"no export":        {program{skip: "getWitness"}.assemble(), `has no function "getWitness"`},
		"other import":     {program{imports: []string{"fd_write"}}.assemble(), `wants the function "runtime"."fd_write"`},
		"not validated":    {program{bodies: map[string][]byte{"getInputSize": {0x42, 0}}}.assemble(), "cannot be compiled"},
		"component module": {[]byte("\x00asm\x0d\x00\x01\x00"), "is not a WebAssembly module"},
	} {
		g, err := ParseGenerator(t.Context(), "circuit.wasm", c.module, GeneratorOptions{})
		if err == nil {
			g.Close()
		}
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || e.File != "circuit.wasm" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a key error that says %q", name, err, c.want)
		}
	}
}

// call is a call of the n-th function, imports first.
func call(n byte) []byte { return []byte{0x10, n} }

func TestGeneratorExplainsHowARunFailed(t *testing.T) {
	forever := []byte{0x03, 0x40, 0x0c, 0, 0x0b}
	for name, c := range map[string]struct {
		program program
		input   string
		class   failure.Class
		want    string
	}{
		"assertion": {program{imports: imports, bodies: map[string][]byte{"setInputSignal": append([]byte{0x41, 4}, call(0)...)}},
			`{"x": 1}`, failure.Input, "does not satisfy an assertion"},
		"unknown signal in an old program": {program{imports: imports, skip: "getInputSignalSize",
			bodies: map[string][]byte{"setInputSignal": append([]byte{0x41, 1}, call(0)...)}},
			`{"x": 1}`, failure.Input, `signal "x": is not an input`},
		"unknown code": {program{imports: imports, bodies: map[string][]byte{"init": append([]byte{0x41, 99 - 64}, call(0)...)}},
			`{"x": 1}`, failure.Input, "code 35"},
		"missing signals": {program{bodies: map[string][]byte{"getInputSize": {0x41, 5}}}, `{"x": 1}`, failure.Input,
			"sets 1 of the 5 values"},
		"wrong length":   {program{}, `{"x": [1, 2]}`, failure.Input, `signal "x": has 2 values, but the circuit circuit.wasm wants 1`},
		"unknown signal": {program{bodies: map[string][]byte{"getInputSignalSize": {0x41, 0x7f}}}, `{"x": 1}`, failure.Input, `signal "x": the circuit circuit.wasm has no such input`},
		"trap":           {program{bodies: map[string][]byte{"init": {0x00}}}, `{"x": 1}`, failure.Input, "unreachable"},
		"endless recursion": {program{bodies: map[string][]byte{"init": append([]byte{0x20, 0}, call(0)...)}}, `{"x": 1}`,
			failure.Input, "stack overflow"},
		"outside memory": {program{bodies: map[string][]byte{"getSharedRWMemoryStart": {0x41, 0x7f}}}, `{"x": 1}`, failure.Key,
			"outside its memory"},
		"other field":     {program{bodies: map[string][]byte{"getRawPrime": store(0, 5)}}, `{"x": 1}`, failure.Key, "no supported curve"},
		"other width":     {program{bodies: map[string][]byte{"getFieldNumLen32": {0x41, 2}}}, `{"x": 1}`, failure.Key, "no supported curve"},
		"2^32-1 elements": {program{bodies: map[string][]byte{"getWitnessSize": {0x41, 0x7f}}}, `{"x": 1}`, failure.Key, "4294967295 elements"},
		"no element":      {program{bodies: map[string][]byte{"getWitnessSize": {0x41, 0}}}, `{"x": 1}`, failure.Key, "0 elements"},
		"one is not one":  {program{bodies: map[string][]byte{"getWitness": store(0, 2)}}, `{"x": 1}`, failure.Key, "element 0 must be 1"},
		"no prime": {program{skip: "getRawPrime"}, `{"x": 1}`, failure.Key,
			`has no function "getRawPrime"`},
		"endless": {program{bodies: map[string][]byte{"init": forever}}, `{"x": 1}`, failure.Input, "time limit"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if name == "endless" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
			}
			g, err := ParseGenerator(t.Context(), "circuit.wasm", c.program.assemble(), GeneratorOptions{})
			if err == nil {
				defer g.Close()
				_, err = g.Witness(ctx, parseInput(t, c.input))
			}
			var e *failure.Error
			if !errors.As(err, &e) || e.Class != c.class || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line of class %s that says %q", err, c.class, c.want)
			}
		})
	}
}

func TestGeneratorEndsWhenCancelled(t *testing.T) {
	g, err := ParseGenerator(t.Context(), "circuit.wasm",
		program{bodies: map[string][]byte{"init": {0x03, 0x40, 0x0c, 0, 0x0b}}}.assemble(), GeneratorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := g.Witness(ctx, parseInput(t, `{"x": 1}`))
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestGeneratorKeepsToItsMemory(t *testing.T) {
	const limit = 10 * wasmPage
	// memory.grow by a page until it fails, then unreachable: a trap that says the limit was met, not passed.
	grow := []byte{0x03, 0x40, 0x41, 1, 0x40, 0, 0x41, 0x7f, 0x47, 0x0d, 0, 0x0b, 0x3f, 0, 0x41, 10, 0x4a, 0x04, 0x40, 0x0f, 0x0b, 0x00}
	_, err := generate(t, t.Context(), program{bodies: map[string][]byte{"init": grow}}, GeneratorOptions{MemoryBytes: limit})
	if err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("got %v, want the trap behind the growth to the limit", err)
	}
	_, err = generate(t, t.Context(), program{memory: []byte{0, 11}}, GeneratorOptions{MemoryBytes: limit})
	if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), "memory") {
		t.Errorf("a program that begins above the limit gives %v, want an error about its memory", err)
	}
}

func TestGeneratorDropsLogsUnlessAskedFor(t *testing.T) {
	// log(…) of circom: a message, a value, and a message of a line feed. A message's only character is at address 40,
	// and reading it clears it.
	body := slices.Concat(store(40, '6'), call(2), store(0, 1), store(4, 0), store(8, 0), store(12, 0), store(16, 0),
		store(20, 0), store(24, 0), store(28, 0), call(3), store(40, '\n'), call(2))
	p := program{imports: imports, bodies: map[string][]byte{"setInputSignal": body,
		"getMessageChar": slices.Concat([]byte{0x41, 40, 0x28, 2, 0}, store(40, 0))}}
	var log strings.Builder
	if _, err := generate(t, t.Context(), p, GeneratorOptions{Log: &log}); err != nil {
		t.Fatal(err)
	}
	if _, err := generate(t, t.Context(), p, GeneratorOptions{}); err != nil {
		t.Fatal(err)
	}
	if log.String() != "6 1\n" {
		t.Errorf("the log is %q, want %q", log.String(), "6 1\n")
	}
}

func TestBoundedModuleRefusesCountsBeyondTheFile(t *testing.T) {
	most := leb128(1<<32 - 1)
	for name, body := range map[string][]byte{
		"types":      wasmSection(1, most),
		"parameters": wasmSection(1, slices.Concat([]byte{1, 0x60}, most)),
		"imports":    wasmSection(2, slices.Concat([]byte{1}, most)),
		"functions":  wasmSection(3, most),
		"table":      wasmSection(4, slices.Concat([]byte{1, 0x70, 0}, most)),
		"memory":     wasmSection(5, slices.Concat([]byte{1, 0}, most)),
		"globals":    wasmSection(6, most),
		"exports":    wasmSection(7, slices.Concat([]byte{1}, most)),
		"elements":   wasmSection(9, slices.Concat([]byte{1, 0, 0x41, 0, 0x0b}, most)),
		"functions'": wasmSection(10, most),
		"locals":     wasmSection(10, slices.Concat([]byte{1, 8, 1}, most, []byte{i32, 0x0b})),
		"data":       wasmSection(11, slices.Concat([]byte{1, 0, 0x41, 0, 0x0b}, most)),
		"section":    slices.Concat([]byte{1}, most),
		"tags":       wasmSection(13, []byte{0}),
		"leb128":     slices.Concat([]byte{1}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x01}),
	} {
		if _, err := boundedModule("circuit.wasm", slices.Concat(wasmHeader, body)); failure.ClassOf(err) != failure.Key {
			t.Errorf("%s: got %v, want an error of class Key", name, err)
		}
	}
	named := slices.Concat(program{}.assemble(), wasmSection(0, slices.Concat(wasmString("name"), most)))
	out, err := boundedModule("circuit.wasm", named)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(program{}.assemble(), out); diff != "" {
		t.Errorf("without its custom section the module is (-want +got):\n%s", diff)
	}
}
