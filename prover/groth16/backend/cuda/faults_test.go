package cuda

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// bench is an instance on a backend of fake devices.
type bench struct {
	*instance.Loaded
	engines []*fakeEngine
	log     *bytes.Buffer
}

func newBench(t *testing.T, devices int, withFallback bool) *bench {
	t.Helper()
	b := &bench{log: &bytes.Buffer{}}
	for range devices {
		b.engines = append(b.engines, &fakeEngine{})
	}
	config := Config{library: &fakeLibrary{engines: b.engines}, Log: slog.New(slog.NewTextHandler(b.log, nil))}
	if withFallback {
		config.Memory = memory.NewBudget(0)
		config.Fallback = cpu.New(cpu.Config{Memory: config.Memory})
	}
	b.Loaded = instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1).Load(t, open(t, config))
	return b
}

// prove computes a proof and judges it as the pipeline does. It returns what computed the last one.
func (b *bench) prove(t *testing.T, a groth16.Assignment) (computer string, refusal, err error) {
	t.Helper()
	ticket, err := b.Backend.Submit(t.Context(), b.Key, a, curve.Scalar{3}, curve.Scalar{4}, groth16.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		proof, err := ticket.Wait(t.Context())
		if err != nil {
			return "", nil, err
		}
		refusal = groth16.Verify(b.VK, proof, b.Public, "")
		judged := ticket.(groth16.Judged)
		again, err := judged.Judge(t.Context(), refusal)
		if again == nil {
			return judged.Computer(), refusal, err
		}
		ticket = again
	}
}

func (b *bench) computed() []int {
	var n []int
	for _, e := range b.engines {
		n = append(n, e.computed)
	}
	return n
}

// spoil makes a proof a wrong one: A and C are exchanged.
func spoil(r *libcuzk.Result) { r.A, r.C = r.C, r.A }

func TestWrongProofIsComputedByAnotherDevice(t *testing.T) {
	b := newBench(t, 2, true)
	b.engines[0].corrupt = spoil
	computer, refusal, err := b.prove(t, b.Packed())
	if computer != "cuda" || refusal != nil || err != nil {
		t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
	}
	if !strings.Contains(b.log.String(), "Withdrew a GPU") || !strings.Contains(b.log.String(), "GPU-a") || strings.Contains(b.log.String(), "GPU-b (") {
		t.Errorf("the log: %s", b.log)
	}
	if w := b.Backend.(groth16.Watched).Withdrawn(); len(w) != 1 || w[0].Device != "GPU-a" || !strings.Contains(w[0].Reason.Error(), "wrong proof") {
		t.Errorf("withdrawn: %v", w)
	}
	// It takes no more work, also when it would compute well again.
	b.engines[0].corrupt = nil
	before := b.engines[0].computed
	for range 3 {
		if _, refusal, err := b.prove(t, b.Packed()); refusal != nil || err != nil {
			t.Fatal(refusal, err)
		}
	}
	if b.engines[0].computed != before {
		t.Error("the withdrawn device went on")
	}
}

func TestWrongProofIsComputedByTheFallback(t *testing.T) {
	b := newBench(t, 1, true)
	b.engines[0].corrupt = spoil
	for i := range 2 {
		computer, refusal, err := b.prove(t, b.Packed())
		if computer != "cpu" || refusal != nil || err != nil {
			t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
		}
		if b.engines[0].computed != 1 {
			t.Errorf("proof %d: the withdrawn device computed %d proofs", i, b.engines[0].computed)
		}
	}
}

func TestWrongProofsOfTwoDevicesAreComputedByTheFallback(t *testing.T) {
	b := newBench(t, 3, true)
	b.engines[0].corrupt, b.engines[1].corrupt, b.engines[2].corrupt = spoil, spoil, spoil
	computer, refusal, err := b.prove(t, b.Packed())
	if computer != "cpu" || refusal != nil || err != nil {
		t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
	}
	if n := b.computed(); n[0]+n[1]+n[2] != 2 {
		t.Errorf("the devices computed %v proofs, want two in all", n)
	}
	if n := len(b.Backend.(*Backend).queue.usable()); n != 1 {
		t.Errorf("%d devices are left, want the one that was not asked", n)
	}
}

// A witness that does not satisfy the circuit is nobody's fault but the input's.
func TestWrongWitnessWithdrawsNoDevice(t *testing.T) {
	for name, b := range map[string]*bench{
		"one device": newBench(t, 1, false), "one and the fallback": newBench(t, 1, true),
		"two devices": newBench(t, 2, false), "two and the fallback": newBench(t, 2, true),
	} {
		t.Run(name, func(t *testing.T) {
			w := b.Canonical()
			w.Elements[4][0] ^= 1
			_, refusal, err := b.prove(t, groth16.Packed{Structure: b.Structure, Witness: w})
			if refusal == nil || err != nil {
				t.Fatalf("refusal %v, error %v", refusal, err)
			}
			if n := len(b.Backend.(*Backend).queue.usable()); n != len(b.engines) {
				t.Errorf("%d devices are left", n)
			}
		})
	}
}

// A lone device without a fallback is asked twice: one that changes its mind is withdrawn, and a right proof is a proof.
func TestUnreliableDeviceAlone(t *testing.T) {
	b := newBench(t, 1, false)
	first := true
	b.engines[0].corrupt = func(r *libcuzk.Result) {
		if first {
			spoil(r)
		}
		first = false
	}
	computer, refusal, err := b.prove(t, b.Packed())
	if computer != "cuda" || refusal != nil || err != nil {
		t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
	}
	if _, _, err := b.prove(t, b.Packed()); failure.ClassOf(err) != failure.Backend || !strings.Contains(err.Error(), "wrong proof") {
		t.Errorf("got %v", err)
	}
}

// Where all agree on a wrong proof, the self-test has the last word before the input is blamed.
func TestWrongDeviceAloneFailsItsSelfTest(t *testing.T) {
	b := newBench(t, 1, false)
	b.engines[0].corrupt = spoil
	b.engines[0].selfTestError = &libcuzk.Error{Code: libcuzk.SelfTestFailed, Message: "MSM differs"}
	_, refusal, err := b.prove(t, b.Packed())
	if refusal == nil || failure.ClassOf(err) != failure.Backend || !strings.Contains(err.Error(), "MSM differs") {
		t.Errorf("refusal %v, error %v", refusal, err)
	}
}

func TestDevicesThatDisagreeAreNotBlamedOnTheInput(t *testing.T) {
	b := newBench(t, 2, false)
	b.engines[0].corrupt = spoil
	b.engines[1].corrupt = func(r *libcuzk.Result) { r.C = r.A }
	_, refusal, err := b.prove(t, b.Packed())
	if refusal == nil || failure.ClassOf(err) != failure.Backend {
		t.Errorf("refusal %v, error %v", refusal, err)
	}
}

func TestLostDeviceIsReplaced(t *testing.T) {
	b := newBench(t, 2, false)
	b.engines[0].computeError = &libcuzk.Error{Code: libcuzk.DeviceLost, Message: "fell off the bus"}
	b.engines[0].releaseError = b.engines[0].computeError // of no interest: closing must not fail for it
	for range 2 {
		if computer, refusal, err := b.prove(t, b.Packed()); computer != "cuda" || refusal != nil || err != nil {
			t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
		}
	}
	if n := b.computed(); n[0] != 1 || n[1] != 2 {
		t.Errorf("the devices computed %v proofs", n)
	}
	if err := b.Key.Close(); err != nil {
		t.Errorf("close the key: %v", err)
	}
	b.Loaded = b.Load(t, b.Backend)
	b.engines[1].computeError = b.engines[0].computeError
	_, _, err := b.prove(t, b.Packed())
	if failure.ClassOf(err) != failure.Backend || !strings.Contains(err.Error(), "fell off the bus") {
		t.Errorf("got %v", err)
	}
}

func TestShortMemoryIsSoughtElsewhere(t *testing.T) {
	short := &libcuzk.Error{Code: libcuzk.OutOfMemory, Message: "key", Asked: 3 << 30, Free: 1 << 30}
	t.Run("another device", func(t *testing.T) {
		b := newBench(t, 2, false)
		b.engines[0].beginError = short
		if computer, refusal, err := b.prove(t, b.Packed()); computer != "cuda" || refusal != nil || err != nil {
			t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
		}
	})
	t.Run("fallback", func(t *testing.T) {
		b := newBench(t, 1, true)
		b.engines[0].beginError = short
		if computer, refusal, err := b.prove(t, b.Packed()); computer != "cpu" || refusal != nil || err != nil {
			t.Fatalf("%s, refusal %v, error %v", computer, refusal, err)
		}
	})
	t.Run("nowhere", func(t *testing.T) {
		b := newBench(t, 1, false)
		b.engines[0].beginError = short
		_, _, err := b.prove(t, b.Packed())
		if failure.ClassOf(err) != failure.Memory || !strings.Contains(err.Error(), "3.0 GiB asked for, 1.0 GiB free") {
			t.Errorf("got %v", err)
		}
	})
}

// A key that no device can take is proved with on the fallback, or refused.
func TestKeyThatDoesNotFit(t *testing.T) {
	short := &libcuzk.Error{Code: libcuzk.OutOfMemory, Message: "key", Asked: 3 << 30, Free: 1 << 30}
	in := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	library := &fakeLibrary{engines: []*fakeEngine{{loadError: short}}}
	b := open(t, Config{library: library})
	if _, err := b.LoadKey(t.Context(), in.Source, groth16.Budget{}); failure.ClassOf(err) != failure.Memory {
		t.Errorf("got %v", err)
	}
	if in.Source.Closed != 0 {
		t.Error("the source was closed, though it is still the caller's")
	}
	b = open(t, Config{library: library, Fallback: cpu.New(cpu.Config{})})
	l := in.Load(t, b)
	proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2})
	if err := groth16.Verify(in.VK, proof, in.Public, ""); err != nil {
		t.Error(err)
	}
}

func TestNewSaysWhy(t *testing.T) {
	with := func(err error) *fakeLibrary { return &fakeLibrary{engines: []*fakeEngine{{openError: err}}} }
	for name, test := range map[string]struct {
		library *fakeLibrary
		want    []string
	}{
		"no device":    {&fakeLibrary{err: &libcuzk.Error{Code: libcuzk.NoDevice, Message: "no driver"}}, []string{"no NVIDIA GPU", "no driver", "--backend cpu", "driver 580"}},
		"none listed":  {&fakeLibrary{}, []string{"no NVIDIA GPU"}},
		"old driver":   {&fakeLibrary{err: &libcuzk.Error{Code: libcuzk.DriverTooOld, Message: "knows CUDA 12.4"}}, []string{"too old", "12.4", "driver 580"}},
		"architecture": {with(&libcuzk.Error{Code: libcuzk.ArchNotBuilt, Message: "7.0"}), []string{"no code for this GPU", "7.0", "ARCHS"}},
		"memory":       {with(&libcuzk.Error{Code: libcuzk.OutOfMemory, Asked: 2048, Free: 1024}), []string{"2.0 KiB asked for, 1.0 KiB free"}},
		"no room":      {&fakeLibrary{engines: []*fakeEngine{{pinError: &libcuzk.Error{Code: libcuzk.OutOfHostMemory, Asked: 2048}}}}, []string{"memory of this machine", "2.0 KiB asked for", "raise the memory limit"}},
		"unsupported":  {with(&libcuzk.Error{Code: libcuzk.Unsupported, Message: "a kernel needs 112 KB"}), []string{"lacks", "112 KB", "--backend cpu"}},
		"failed test":  {&fakeLibrary{engines: []*fakeEngine{{selfTestError: &libcuzk.Error{Code: libcuzk.SelfTestFailed, Message: "NTT differs"}}}}, []string{"GPU-a", "computes wrongly", "NTT differs"}},
		"two unusable": {&fakeLibrary{engines: []*fakeEngine{{openError: &libcuzk.Error{Code: libcuzk.DeviceLost, Message: "lost"}}, {openError: errors.New("other")}}}, []string{"lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{library: test.library})
			if err == nil {
				t.Fatal("it was opened")
			}
			if class := failure.ClassOf(err); class != failure.Backend && (class != failure.Memory || name != "memory" && name != "no room") {
				t.Errorf("class %s", class)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// What was opened before a failure is closed.
func TestFailedSelfTestClosesTheDevice(t *testing.T) {
	bad := &fakeEngine{selfTestError: &libcuzk.Error{Code: libcuzk.SelfTestFailed, Message: "NTT differs"}}
	library := &fakeLibrary{engines: []*fakeEngine{bad, {}}}
	b, err := New(Config{library: library})
	if err != nil {
		t.Fatal(err)
	}
	if bad.closed != 1 {
		t.Errorf("it was closed %d times", bad.closed)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if n := library.pinned; n[0] != 0 || n[1] != 0 {
		t.Errorf("%v bytes are still page-locked", n)
	}
}

// The self-test that judges a refused proof waits for a lane: a device at work is not withdrawn for being at work.
func TestSelfTestOfARefusedProofWaitsForALane(t *testing.T) {
	engine := &fakeEngine{}
	b := open(t, Config{library: &fakeLibrary{engines: []*fakeEngine{engine}}, ProofsPerDevice: 1})
	l := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1).Load(t, b)
	submit := func(a groth16.Assignment) groth16.Ticket {
		ticket, err := b.Submit(t.Context(), l.Key, a, curve.Scalar{3}, curve.Scalar{4}, groth16.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	wrong := l.Canonical()
	wrong.Elements[4][0] ^= 1
	refusal := errors.New("it does not verify")
	ticket := submit(groth16.Packed{Structure: l.Structure, Witness: wrong})
	if _, err := ticket.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := ticket.(groth16.Judged).Judge(t.Context(), refusal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}

	begun, goOn := make(chan struct{}), make(chan struct{})
	engine.atCompute = func() { close(begun); <-goOn }
	other := submit(l.Packed())
	<-begun
	judged := make(chan error, 1)
	go func() {
		_, err := again.(groth16.Judged).Judge(t.Context(), refusal)
		judged <- err
	}()
	waits := func() bool {
		b.queue.mu.Lock()
		defer b.queue.mu.Unlock()
		return len(b.queue.waiting) > 0
	}
	for !waits() && len(judged) == 0 {
		runtime.Gosched()
	}
	close(goOn)
	if err := <-judged; err != nil {
		t.Errorf("the device, which is sound, was blamed: %v", err)
	}
	if _, err := other.Wait(t.Context()); err != nil || len(b.Withdrawn()) != 0 {
		t.Errorf("the other proof: %v, withdrawn: %v", err, b.Withdrawn())
	}
}

// A self-test that cannot be made says nothing of the device.
func TestSelfTestThatCannotBeMadeWithdrawsNoDevice(t *testing.T) {
	b := newBench(t, 1, false)
	b.engines[0].corrupt = spoil
	b.engines[0].selfTestError = &libcuzk.Error{Code: libcuzk.OutOfMemory, Message: "keys", Asked: 2, Free: 1}
	if _, _, err := b.prove(t, b.Packed()); failure.ClassOf(err) != failure.Memory {
		t.Errorf("got %v", err)
	}
	if w := b.Backend.(groth16.Watched).Withdrawn(); len(w) != 0 {
		t.Errorf("withdrawn: %v", w)
	}
}

// A device that cannot be opened is tried once, whatever the reason; it takes no work, and no key's points are kept for it.
func TestDeviceThatCannotBeOpenedIsWithdrawn(t *testing.T) {
	short := &libcuzk.Error{Code: libcuzk.OutOfMemory, Message: "context", Asked: 2048, Free: 1024}
	for name, bad := range map[string]*fakeEngine{"context": {openError: short}, "page-locked memory": {pinError: short}} {
		t.Run(name, func(t *testing.T) {
			b := open(t, Config{library: &fakeLibrary{engines: []*fakeEngine{{}, bad}}})
			b.queue.devices[0].free = 1 // so that the other is tried first
			l := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1).Load(t, b)
			for range 3 {
				if proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2}); groth16.Verify(l.VK, proof, l.Public, "") != nil {
					t.Error("the proof is wrong")
				}
			}
			if w := b.Withdrawn(); bad.tried != 1 || len(w) != 1 || failure.ClassOf(w[0].Reason) != failure.Memory {
				t.Errorf("tried %d times, withdrawn: %v", bad.tried, w)
			}
			if n := len(b.queue.usable()); n != 1 {
				t.Errorf("%d devices are usable", n)
			}
		})
	}
}

// Shortage of the host's memory is not blamed on the GPU.
func TestShortHostMemoryIsTold(t *testing.T) {
	b := newBench(t, 1, false)
	b.engines[0].beginError = &libcuzk.Error{Code: libcuzk.OutOfHostMemory, Message: "out of host memory", Asked: 3 << 30}
	_, _, err := b.prove(t, b.Packed())
	if failure.ClassOf(err) != failure.Memory || !strings.Contains(err.Error(), "3.0 GiB asked for") || strings.Contains(err.Error(), "GPU's memory") ||
		!strings.Contains(err.Error(), "raise the memory limit") {
		t.Errorf("got %v", err)
	}
}

// vast is a key with a larger domain than GPUs transform. Nothing of it is read.
type vast struct{ *inParts }

func (vast) Domain() int { return 1 << 29 }

// keyRefusing is a fallback that refuses all keys.
type keyRefusing struct {
	groth16.Backend
	asked int
	err   error
}

func (f *keyRefusing) LoadKey(context.Context, groth16.KeySource, groth16.Budget) (groth16.Key, error) {
	f.asked++
	return nil, f.err
}

// A circuit that is too large for GPUs is the fallback's, and without one an error that says so.
func TestDomainThatIsTooLarge(t *testing.T) {
	engine := &fakeEngine{}
	library := &fakeLibrary{engines: []*fakeEngine{engine}}
	source := vast{&inParts{Key: instance.New(t, curve.BLS12381, groth16.LayoutCoefficients, ordinary, 1).Source}}
	_, err := open(t, Config{library: library}).LoadKey(t.Context(), source, groth16.Budget{})
	if failure.ClassOf(err) != failure.Backend || !strings.Contains(err.Error(), "2^28") {
		t.Errorf("got %v", err)
	}
	fallback := &keyRefusing{Backend: processor, err: errors.New("asked")}
	_, err = open(t, Config{library: library, Fallback: fallback}).LoadKey(t.Context(), source, groth16.Budget{})
	if fallback.asked != 1 || !errors.Is(err, fallback.err) {
		t.Errorf("the fallback was asked %d times: %v", fallback.asked, err)
	}
	if engine.loads != 0 || source.read != 0 {
		t.Errorf("%d loads, %d bytes read", engine.loads, source.read)
	}
}
