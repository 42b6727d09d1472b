package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/go-logr/logr"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// KeyInspector looks at a key's files; it is the pipeline's readers, seen from a pod.
type KeyInspector interface {
	// InspectKey tells the facts of a key and its verifying key, in the form that the key's format has for it. Whoever reads
	// a file of many gigabytes tells of its bytes.
	InspectKey(ctx context.Context, key KeyFiles, o *order.InspectionOrder, tell progress.Func) (*KeyFacts, error)
}

// KeyFacts are what a key's files say.
type KeyFacts struct {
	Curve                                        string
	Constraints, PublicInputs, Wires, DomainSize int64
	// Parameters names the circuit of a Filecoin key.
	Parameters                        string
	StructureDigest, ProvingKeyDigest string
	ProvingKeyBytes                   int64
	// VerifyingKey is empty if the files do not hold one (gnark's proving keys do not).
	VerifyingKey []byte
}

// Inspection carries out an inspection order.
type Inspection struct {
	Order       *order.InspectionOrder
	Client      client.Client
	Inspector   KeyInspector
	Log         logr.Logger
	Clock       clock.WithTicker
	Scratch     string
	Termination string
}

// Run inspects the key, brings its verifying key into the ConfigMaps and leaves the facts as the last word. It succeeds
// only if both are there.
func (w *Inspection) Run(ctx context.Context) error {
	result, err := w.inspect(ctx)
	if err != nil {
		result = order.InspectionResult{
			Class: string(failure.ClassOf(err)), Message: v1alpha1.ReportMessage(err.Error(), v1alpha1.MaxMessageLength),
		}
	}
	if werr := os.WriteFile(w.Termination, result.Marshal(), 0o600); werr != nil && err == nil {
		err = failure.New(failure.IO, "termination message: %w", werr)
	}
	return err
}

func (w *Inspection) inspect(ctx context.Context) (order.InspectionResult, error) {
	scratch, err := scratchDir(w.Scratch)
	if err != nil {
		return order.InspectionResult{}, err
	}
	read := logReading(w.Log, w.Clock)
	fs := &files{scratch: scratch, progress: read}
	defer fs.release(0, 0)
	key, err := fs.keyFiles(ctx, w.Order.Key)
	if err != nil {
		return order.InspectionResult{}, err
	}
	facts, err := w.Inspector.InspectKey(ctx, key, w.Order, read)
	if err != nil {
		return order.InspectionResult{}, err
	}
	result := order.InspectionResult{
		Curve: facts.Curve, Constraints: facts.Constraints, PublicInputs: facts.PublicInputs, Wires: facts.Wires,
		DomainSize: facts.DomainSize, Parameters: facts.Parameters, StructureDigest: facts.StructureDigest,
		ProvingKeyBytes: facts.ProvingKeyBytes, ProvingKeyDigest: facts.ProvingKeyDigest,
	}
	if len(facts.VerifyingKey) > 0 {
		if result.VerifyingKey, err = w.deliver(ctx, facts.VerifyingKey); err != nil {
			return order.InspectionResult{}, err
		}
	}
	w.Log.Info("Inspected key", "key", w.Order.Key.Name, "publicInputs", facts.PublicInputs, "domainSize", facts.DomainSize)
	return result, nil
}

// deliver puts the verifying key into the ConfigMaps that the operator made for it.
func (w *Inspection) deliver(ctx context.Context, vk []byte) (*order.InspectionVerifyingKey, error) {
	parts := (len(vk) + order.InspectionPartBytes - 1) / order.InspectionPartBytes
	if parts > len(w.Order.Outputs) {
		return nil, failure.New(failure.Key, "the verifying key takes %d bytes, more than the %d that %d ConfigMaps hold",
			len(vk), len(w.Order.Outputs)*order.InspectionPartBytes, len(w.Order.Outputs)).
			WithFix("put it into ConfigMaps of your own and name one in files.verifyingKey, or use a circuit with fewer public inputs")
	}
	a := &applier{client: w.Client, clock: w.Clock, log: w.Log, namespace: w.Order.Namespace, started: w.Clock.Now()}
	for i := range parts {
		part := vk[i*order.InspectionPartBytes : min(len(vk), (i+1)*order.InspectionPartBytes)]
		cm := corev1apply.ConfigMap(w.Order.Outputs[i], w.Order.Namespace).
			WithBinaryData(map[string][]byte{order.InspectionPartKey: part})
		err := a.retry(ctx, "verifying key", func() error {
			return w.Client.Apply(ctx, cm, client.FieldOwner(order.InspectionFieldManager), client.ForceOwnership)
		})
		if err != nil {
			return nil, failure.New(failure.IO, "verifying key, part %d: %w", i, err)
		}
	}
	digest := sha256.Sum256(vk)
	return &order.InspectionVerifyingKey{
		SizeBytes: int64(len(vk)), Digest: "sha256:" + hex.EncodeToString(digest[:]), Parts: parts,
	}, nil
}
