// Package cuda is the proving backend that runs on NVIDIA GPUs. The arithmetic is that of libcuzk, a shared library that is
// opened at run time; here are the devices, what is resident on them, the order of proofs, and what is done when a device
// fails or computes wrongly.
package cuda

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// name of the backend.
const name = "cuda"

// Config of the backend. The zero value is useful.
type Config struct {
	// Memory is what proofs reserve host memory from; nil is a budget without bound.
	Memory *memory.Budget
	// ProofsPerDevice is how many proofs a device has under way at once, at most 2: one is uploaded and transformed while
	// the other multiplies. 0 is 2.
	ProofsPerDevice int
	// CopyThreads is how many threads copy to each device; 0 leaves it to the library.
	CopyThreads int
	// Fallback computes what no device can or what devices computed wrongly; nil makes that an error. It must share
	// Memory, and is the caller's to close.
	Fallback groth16.Backend
	// Log is told of devices that are opened and withdrawn; nil is allowed.
	Log *slog.Logger

	library libcuzk.Library // of tests
}

// Backend implements groth16.Backend.
type Backend struct {
	memory   *memory.Budget
	fallback groth16.Backend
	log      *slog.Logger
	queue    queue
}

var (
	_ groth16.Backend = (*Backend)(nil)
	_ groth16.Watched = (*Backend)(nil)
)

// New opens the library and the first device that passes its self-test; the others are opened, and must pass theirs, when
// they are first needed. Errors are of class Backend and say what to do.
func New(config Config) (*Backend, error) {
	library, devices, err := discover(config.library)
	if err != nil {
		return nil, err
	}
	b := &Backend{memory: config.Memory, fallback: config.Fallback, log: config.Log}
	if b.memory == nil {
		b.memory = memory.NewBudget(0)
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	lanes := config.ProofsPerDevice
	if lanes <= 0 {
		lanes = 2
	}
	for _, info := range devices {
		b.queue.devices = append(b.queue.devices, newDevice(library, info, min(lanes, 2), config.CopyThreads))
	}
	for _, d := range b.queue.devices {
		if _, err := d.ready(); err != nil {
			b.withdraw(d, err)
			continue
		}
		b.log.Info("Opened GPU", "gpu", d.UUID, "name", d.Name, "library", library.Path(), "build", library.Build())
		return b, nil
	}
	return nil, errors.Join(b.noneLeft(), b.Close())
}

// discover opens the library and lists the devices, of which there is at least one.
func discover(library libcuzk.Library) (libcuzk.Library, []libcuzk.Device, error) {
	if library == nil {
		var err error
		if library, err = libcuzk.Open(); err != nil {
			return nil, nil, explain(err, "")
		}
	}
	devices, err := library.Devices()
	if err == nil && len(devices) == 0 {
		err = &libcuzk.Error{Code: libcuzk.NoDevice, Message: "the driver lists none"}
	}
	return library, devices, explain(err, "")
}

// Name is "cuda".
func (b *Backend) Name() string { return name }

// Memory is the budget of Config.
func (b *Backend) Memory() *memory.Budget { return b.memory }

// KeyDemand is not known: what of a key lies on devices and what on the host is decided when a device has been found for it.
func (b *Backend) KeyDemand(groth16.KeyShape) (key, proof groth16.Budget) { return key, proof }

// Demand is the device memory of a proof. On the host a proof takes nothing but its lane's buffer, which is always there.
func (b *Backend) Demand(key groth16.Key) groth16.Budget {
	k, ok := key.(*provingKey)
	if !ok {
		return groth16.Budget{}
	}
	var most int64
	for _, c := range k.copies.all() {
		info, _ := c.Info() // fails only for a handle that is none
		most = max(most, info.ProofDeviceBytes)
	}
	return groth16.Budget{DeviceBytes: most}
}

// Close closes the devices.
func (b *Backend) Close() error {
	var errs []error
	for _, d := range b.queue.devices {
		if err := d.close(); err != nil && !b.queue.withdrawn(d) {
			errs = append(errs, fmt.Errorf("close %s: %w", d, err))
		}
	}
	return errors.Join(errs...)
}

// Submit queues a proof; see groth16.Backend.
func (b *Backend) Submit(ctx context.Context, key groth16.Key, a groth16.Assignment, r, s curve.Scalar, opts groth16.Options) (groth16.Ticket, error) {
	k, ok := key.(*provingKey)
	if !ok {
		return nil, fmt.Errorf("a key of another backend: %T", key)
	}
	if !k.curve.IsCanonical(r) || !k.curve.IsCanonical(s) {
		return nil, fmt.Errorf("r and s must be canonical scalars of %s", k.curve)
	}
	if opts.Observer == nil {
		opts.Observer = stage.Nop{}
	}
	t := &task{key: k, assignment: a, r: r, s: s, options: opts}
	if err := t.prepare(); err != nil {
		return nil, err
	}
	return b.start(ctx, t, nil)
}

// withdraw keeps a device from further work, and says so once.
func (b *Backend) withdraw(d *device, reason error) {
	if b.queue.withdraw(d, explain(reason, d.String())) {
		b.log.Error("Withdrew a GPU: it takes no more work", "gpu", d.UUID, "name", d.Name, "pci", d.PCI, "reason", reason.Error())
	}
}

// Withdrawn lists the devices that take no more work; see groth16.Watched.
func (b *Backend) Withdrawn() []groth16.Withdrawal { return b.queue.withdrawals() }

// noneLeft says why no device takes work.
func (b *Backend) noneLeft() error {
	withdrawn := b.Withdrawn()
	if len(withdrawn) == 0 {
		return failure.New(failure.Backend, "%w", errNowhere)
	}
	if len(withdrawn) > 1 {
		var reasons []error
		for _, w := range withdrawn {
			reasons = append(reasons, w.Reason)
		}
		b.log.Error("No GPU is left", "reasons", errors.Join(reasons...).Error())
	}
	return withdrawn[0].Reason
}

// load makes the first copy of what, on the least loaded device that can take it, else on the fallback.
func (b *Backend) load(what string, onDevice func(*device) error, onFallback func() error) error {
	var last error
	for _, d := range b.queue.usable() {
		err := onDevice(d)
		if err == nil {
			return nil
		}
		possible, withdraw := elsewhere(err)
		if withdraw {
			b.withdraw(d, err)
		}
		if last = explain(err, d.String()); !possible {
			return last
		}
	}
	if last == nil {
		last = b.noneLeft()
	}
	if b.fallback == nil {
		return last
	}
	b.log.Warn("No GPU takes "+what+"; falling back", "to", b.fallback.Name(), "reason", last.Error())
	return onFallback()
}
