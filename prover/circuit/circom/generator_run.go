package circom

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// maxMessageBytes bounds a text that the program hands out.
const maxMessageBytes = 4096

// generatorRun is one witness under way.
type generatorRun struct {
	generator *Generator
	input     *Input
	module    api.Module
	memory    api.Memory
	curve     curve.ID
	shared    uint32 // address of the element that calls pass

	signal   string // being set, for messages
	messages []string
	line     strings.Builder // of log()
	failed   error
}

type runKey struct{}

func runOf(ctx context.Context) *generatorRun { return ctx.Value(runKey{}).(*generatorRun) }

// Witness computes the witness for an input and checks nothing but the circuit's own assertions. The context's deadline
// is the program's time limit. Errors are *failure.Error of class Input (signals missing, unknown or of wrong length;
// assertions that do not hold; time and memory limits) or Key (a program that misbehaves).
func (g *Generator) Witness(ctx context.Context, in *Input) (*Witness, error) {
	r := &generatorRun{generator: g, input: in}
	runCtx := context.WithValue(ctx, runKey{}, r)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	module, err := g.runtime.InstantiateModule(runCtx, g.program, config)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	r.module, r.memory = module, module.Memory()
	defer r.close()
	if r.memory == nil {
		return nil, r.broken("has no memory")
	}
	w, err := r.compute(runCtx)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	return w, nil
}

// close clears the program's memory, which holds the whole witness, before it is given back.
func (r *generatorRun) close() {
	if r.memory != nil {
		if all, ok := r.memory.Read(0, r.memory.Size()); ok {
			clear(all)
		}
	}
	_ = r.module.Close(context.Background())
}

func (r *generatorRun) compute(ctx context.Context) (*Witness, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if _, err := r.call(ctx, "init", 1); err != nil {
		return nil, err
	}
	if err := r.setInput(ctx); err != nil {
		return nil, err
	}
	return r.readWitness(ctx)
}

// prepare learns the program's field and where it passes elements.
func (r *generatorRun) prepare(ctx context.Context) error {
	words, err := r.call(ctx, "getFieldNumLen32")
	if err != nil {
		return err
	}
	if words != curve.ScalarBytes/4 {
		return r.unsupportedField()
	}
	start, err := r.call(ctx, "getSharedRWMemoryStart")
	if err != nil {
		return err
	}
	r.shared = start
	if _, err := r.call(ctx, "getRawPrime"); err != nil {
		return err
	}
	prime, err := r.element()
	if err != nil {
		return err
	}
	id, ok := curve.FromScalarModulus(curve.ScalarToBig(prime))
	if !ok {
		return r.unsupportedField()
	}
	r.curve = id
	return nil
}

func (r *generatorRun) unsupportedField() error {
	return failure.New(failure.Key, "computes in a field of no supported curve").In(r.generator.name).
		WithFix("compile the circuit with --prime bn128 or --prime bls12381")
}

// setInput sets every value; the program computes when the last of its inputs is set.
func (r *generatorRun) setInput(ctx context.Context) error {
	want, err := r.call(ctx, "getInputSize")
	if err != nil {
		return err
	}
	given := 0
	for _, s := range r.input.signals {
		given += len(s.values)
		if err := r.checkSize(ctx, s); err != nil {
			return err
		}
	}
	if given < int(want) {
		return failure.New(failure.Input, "sets %d of the %d values that the circuit %s wants, so signals are missing; it sets: %s",
			given, want, r.generator.name, r.input.names()).In(r.input.name).WithFix("add the missing input signals")
	}
	modulus := r.curve.ScalarModulus()
	for _, s := range r.input.signals {
		r.signal = s.name
		hash := signalHash(s.name)
		for i, value := range s.values {
			reduced := new(big.Int).Mod(value, modulus)
			if err := r.setElement(curve.ScalarFromBig(reduced)); err != nil {
				return err
			}
			if _, err := r.call(ctx, "setInputSignal", hash>>32, hash&0xffffffff, uint64(i)); err != nil {
				return err
			}
		}
	}
	r.signal = ""
	return nil
}

// checkSize compares a signal with what the circuit says about it. Programs of circom before 2.0.4 do not say it.
func (r *generatorRun) checkSize(ctx context.Context, s signal) error {
	if r.module.ExportedFunction("getInputSignalSize") == nil {
		return nil
	}
	hash := signalHash(s.name)
	size, err := r.call(ctx, "getInputSignalSize", hash>>32, hash&0xffffffff)
	if err != nil {
		return err
	}
	if int32(size) < 0 || size == 0 && len(s.values) > 0 {
		return r.inputError(s.name, "the circuit %s has no such input", r.generator.name).
			WithFix("remove it, or check the spelling")
	}
	if int(size) != len(s.values) {
		return r.inputError(s.name, "has %d values, but the circuit %s wants %d", len(s.values), r.generator.name, size).
			WithFix("give it the number of values that the circuit declares")
	}
	return nil
}

func signalHash(name string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name)
	return h.Sum64()
}

// readWitness reads element after element. Their number is believed only as far as the program's own memory can hold a
// list of so many signals.
func (r *generatorRun) readWitness(ctx context.Context) (*Witness, error) {
	n, err := r.call(ctx, "getWitnessSize")
	if err != nil {
		return nil, err
	}
	if n == 0 || uint64(n)*4 > uint64(r.memory.Size()) {
		return nil, r.broken("says that its witness has %d elements, which its memory of %d bytes does not hold", n, r.memory.Size())
	}
	w := &Witness{name: "witness of " + r.input.name, curve: r.curve, raw: make([]byte, int(n)*curve.ScalarBytes), owned: true}
	getWitness := r.module.ExportedFunction("getWitness")
	stack := make([]uint64, 1)
	for i := range int(n) {
		stack[0] = uint64(i)
		if err := getWitness.CallWithStack(ctx, stack); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		raw, ok := r.memory.Read(r.shared, curve.ScalarBytes)
		if !ok {
			return nil, errors.Join(r.broken("passes elements outside its memory"), w.Close())
		}
		copy(w.raw[i*curve.ScalarBytes:], raw)
	}
	err = w.check(ctx, func(offset int, msg string, args ...any) *failure.Error {
		return failure.New(failure.Key, msg, args...).In(r.generator.name).At("computed witness", int64(offset))
	})
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// call calls an exported function of 32-bit numbers.
func (r *generatorRun) call(ctx context.Context, name string, arguments ...uint64) (uint32, error) {
	f := r.module.ExportedFunction(name)
	if f == nil {
		return 0, r.broken("has no function %q", name)
	}
	if len(f.Definition().ParamTypes()) != len(arguments) {
		return 0, r.broken("has a function %q of %d parameters instead of %d", name, len(f.Definition().ParamTypes()), len(arguments))
	}
	results, err := f.Call(ctx, arguments...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return uint32(results[0]), nil
}

// element reads the element that the program passes.
func (r *generatorRun) element() (s curve.Scalar, err error) {
	raw, ok := r.memory.Read(r.shared, curve.ScalarBytes)
	if !ok {
		return s, r.broken("passes elements outside its memory")
	}
	return curve.Load[curve.Scalar](raw), nil
}

func (r *generatorRun) setElement(s curve.Scalar) error {
	raw := make([]byte, 0, curve.ScalarBytes)
	for _, limb := range s {
		raw = binary.LittleEndian.AppendUint64(raw, limb)
	}
	if !r.memory.Write(r.shared, raw) {
		return r.broken("passes elements outside its memory")
	}
	return nil
}

// exceptions are the codes that programs hand to exceptionHandler.
var exceptions = map[uint32]string{
	1: "is not an input of the circuit",
	2: "has more values than the circuit wants",
	3: "is set twice",
	4: "does not satisfy an assertion of the circuit",
	5: "needs more memory than the program has",
	6: "has more values than the circuit wants",
	7: "makes the circuit read outside an array",
}

// raise ends the program with an exception of circom's.
func (r *generatorRun) raise(code uint32) {
	text, known := exceptions[code]
	if !known {
		text = fmt.Sprintf("makes the program fail with code %d", code)
	}
	signal := r.signal
	if code >= 4 && code != 6 {
		signal = "" // the circuit computes only once all inputs are set, so the last one is not to blame
	}
	where := ""
	if len(r.messages) > 0 {
		where = " (" + strings.Join(r.messages, "; ") + ")"
	}
	e := r.inputError(signal, "%s%s", text, where)
	if signal == "" {
		e = failure.New(failure.Input, "the input %s%s", text, where).In(r.input.name)
	}
	r.failed = e.WithFix("correct the input; the circuit is %s", r.generator.name)
	panic(r.failed) // the engine ends the program with it
}

func (r *generatorRun) inputError(signal, msg string, args ...any) *failure.Error {
	e := failure.New(failure.Input, msg, args...).In(r.input.name)
	if signal != "" {
		e.Section = fmt.Sprintf("signal %q", signal)
	}
	return e
}

// broken is an error of a program that does not behave as circom's do.
func (r *generatorRun) broken(msg string, args ...any) error {
	return failure.New(failure.Key, msg, args...).In(r.generator.name).WithFix("compile the circuit with circom 2 and --wasm")
}

// explain words the error with which a run ended.
func (r *generatorRun) explain(ctx context.Context, err error) error {
	var e *failure.Error
	switch {
	case r.failed != nil:
		return r.failed
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure.New(failure.Input, "the witness generator %s did not end within its time limit: %w", r.generator.name,
			context.DeadlineExceeded).In(r.input.name).WithFix("allow it more time, or hand in the witness (.wtns)")
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e):
		return e
	}
	// An overrun of memory or stack, or an instruction that traps. The stack trace is the program's, and long.
	return failure.New(failure.Input, "the witness generator %s failed: %s", r.generator.name, firstLine(err)).In(r.input.name).
		WithFix("check the input, and allow the witness generator more memory if it is that")
}

// message reads the text that the program hands out character by character.
func (r *generatorRun) message(ctx context.Context) string {
	var text []byte
	for len(text) < maxMessageBytes {
		c, err := r.call(ctx, "getMessageChar")
		if err != nil || c == 0 {
			break
		}
		text = append(text, byte(c))
	}
	return strings.ToValidUTF8(string(text), "?")
}

// errorMessage keeps where in the circuit an error is: "Error in template T_0 line: 3". It holds no values.
func (r *generatorRun) errorMessage(ctx context.Context) {
	const most = 8
	if text := strings.TrimSpace(r.message(ctx)); text != "" && len(r.messages) < most && !slices.Contains(r.messages, text) {
		r.messages = append(r.messages, text)
	}
}

// logMessage takes a text of log(); a line feed ends the line.
func (r *generatorRun) logMessage(ctx context.Context) {
	text := r.message(ctx)
	if r.generator.options.Log == nil {
		return
	}
	if text == "\n" {
		_, _ = fmt.Fprintln(r.generator.options.Log, r.line.String())
		r.line.Reset()
		return
	}
	r.logWord(text)
}

// logValue takes a value of log(): the element that the program passes.
func (r *generatorRun) logValue(context.Context) {
	if r.generator.options.Log == nil {
		return
	}
	if s, err := r.element(); err == nil {
		r.logWord(curve.ScalarToBig(s).String())
	}
}

func (r *generatorRun) logWord(word string) {
	if r.line.Len() > 0 && r.line.Len() < maxMessageBytes {
		r.line.WriteByte(' ')
	}
	if r.line.Len() < maxMessageBytes {
		r.line.WriteString(word)
	}
}
