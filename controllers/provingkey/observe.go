package provingkey

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/crypto/blake2b"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/controllers/internal/verifyingkey"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// observe gathers what a plan depends on. Its error is one of the moment; what is wrong with the key is in the
// observation.
func (r *Reconciler) observe(ctx context.Context, key *api.ProvingKey) (*Observation, error) {
	o := &Observation{Key: key}
	if key.DeletionTimestamp != nil {
		return o, nil
	}
	var err error
	if o.MissingSource, err = r.missingSource(ctx, key); err != nil {
		return nil, err
	}
	if err := r.observeInspection(ctx, o); err != nil {
		return nil, err
	}
	at := location(o)
	if at == nil || o.ContentErr != nil {
		return o, nil
	}
	o.Content, err = r.read(ctx, key, *at)
	var temporary *apierrors.StatusError
	if errors.As(err, &temporary) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil, err
	}
	o.ContentErr = err
	return o, nil
}

// location is where the verifying key is to be found now, nil if nowhere: in the status, in the spec or in the result of
// an inspection, in this order.
func location(o *Observation) *api.VerifyingKeyLocation {
	if at := o.Key.Status.VerifyingKey; at != nil {
		return at
	}
	if f := o.Key.Spec.Files.VerifyingKey; f != nil {
		switch {
		case f.Inline != nil:
			return &api.VerifyingKeyLocation{}
		case f.ConfigMap != nil:
			return &api.VerifyingKeyLocation{ConfigMaps: []api.ConfigMapKey{*f.ConfigMap}}
		}
	}
	if o.Result == nil || o.Result.VerifyingKey == nil {
		return nil
	}
	names := outputs(o.Key)
	at := &api.VerifyingKeyLocation{Digest: api.Digest(o.Result.VerifyingKey.Digest)}
	for _, name := range names[:max(0, min(o.Result.VerifyingKey.Parts, len(names)))] {
		at.ConfigMaps = append(at.ConfigMaps, api.ConfigMapKey{Name: name, Key: order.InspectionPartKey})
	}
	return at
}

// read loads the verifying key from a location, checks it against all digests that pin it, and parses it.
func (r *Reconciler) read(ctx context.Context, key *api.ProvingKey, at api.VerifyingKeyLocation) (*Content, error) {
	var data []byte
	if len(at.ConfigMaps) == 0 {
		f := key.Spec.Files.VerifyingKey
		if f == nil || f.Inline == nil {
			return nil, errors.New("the status does not say where the verifying key is")
		}
		data = f.Inline.Bytes()
	}
	for i := range at.ConfigMaps {
		part, err := verifyingkey.Part(ctx, r.Direct, key.Namespace, &at.ConfigMaps[i])
		if err != nil {
			return nil, err
		}
		if data = append(data, part...); len(data) > verifyingkey.MaxBytes {
			return nil, fmt.Errorf("it has more than %d bytes", verifyingkey.MaxBytes)
		}
	}
	if err := verifyingkey.CheckDigest("The verifying key", data, string(at.Digest)); err != nil {
		return nil, err
	}
	if f := key.Spec.Files.VerifyingKey; f != nil {
		if err := verifyingkey.CheckDigest("The verifying key", data, string(f.Digest)); err != nil {
			return nil, err
		}
		if want := ptr.Deref(f.SizeBytes, 0); want > 0 && want != int64(len(data)) {
			return nil, fmt.Errorf("it has %d bytes, and files.verifyingKey.sizeBytes is %d", len(data), want)
		}
	}
	if known := contentOf(&key.Status); known != nil {
		return known, nil
	}
	vk, err := verification.ParseGroth16(verification.KeyRef{Format: string(key.Spec.Format), Curve: string(key.Spec.Curve)}, data)
	if err != nil {
		return nil, err
	}
	at.Digest, at.SizeBytes = verifyingkey.Digest(data), ptr.To(int64(len(data)))
	c := &Content{Location: at, Public: int64(vk.Public()), Commitments: int32(vk.Commitments())}
	if key.Spec.Format == api.KeyFormatFilecoin {
		c.Parameters = published(blake2b.Sum512(data))
	}
	return c, nil
}

// contentOf is the verifying key that a status pins by its digest, nil if there is none. Its points were checked before it
// was pinned, which takes seconds for Filecoin's largest, and are again when proofs are verified.
func contentOf(s *api.ProvingKeyStatus) *Content {
	if s.VerifyingKey == nil || s.VerifyingKey.Digest == "" || s.Facts == nil || s.Facts.PublicInputs == nil {
		return nil
	}
	return &Content{
		Location: *s.VerifyingKey, Public: *s.Facts.PublicInputs,
		Commitments: ptr.Deref(s.Facts.Commitments, 0), Parameters: s.Facts.Parameters,
	}
}

// published names the parameters of Filecoin's trusted set-up to which the verifying key with this digest belongs, "" if it
// is of none.
func published(verifyingKey [blake2b.Size]byte) string {
	digest := hex.EncodeToString(verifyingKey[:16]) // as much as is published
	for _, p := range filecoin.PublishedParameters {
		if p.VK == digest {
			return p.Circuit.Shape(p.Sector).ParameterName()
		}
	}
	return ""
}

func (r *Reconciler) observeInspection(ctx context.Context, o *Observation) error {
	var job batchv1.Job
	switch err := r.Client.Get(ctx, client.ObjectKey{Namespace: o.Key.Namespace, Name: InspectionName(o.Key)}, &job); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get inspection Job: %w", err)
	case !metav1.IsControlledBy(&job, o.Key):
		o.Foreign = true
		return nil
	}
	o.Inspection = &job
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(o.Key.Namespace), client.MatchingFields{proverpod.OwnerIndex: string(o.Key.UID)}); err != nil {
		return fmt.Errorf("list pods of the inspection: %w", err)
	}
	for i := range pods.Items {
		// Everybody who may create pods can give one these labels.
		if pod := &pods.Items[i]; metav1.IsControlledBy(pod, &job) {
			o.Pods = append(o.Pods, pod)
		}
	}
	o.Result, o.Failure = readResult(o.Pods)
	if o.Result != nil && o.Result.Curve != "" && o.Result.Curve != string(o.Key.Spec.Curve) {
		o.ContentErr = fmt.Errorf("the key is on %s, and spec.curve is %s", o.Result.Curve, o.Key.Spec.Curve)
	}
	return nil
}

// missingSource names the first ConfigMap or claim of the key's files that is not there, "" if all are. The verifying
// key's own is found out by reading it.
func (r *Reconciler) missingSource(ctx context.Context, key *api.ProvingKey) (string, error) {
	f := &key.Spec.Files
	for _, file := range []struct {
		field string
		*api.KeyFile
	}{{"provingKey", &f.ProvingKey}, {"constraintSystem", f.ConstraintSystem}, {"witnessGenerator", f.WitnessGenerator}} {
		if file.KeyFile == nil {
			continue
		}
		kind, name := "", ""
		switch {
		case file.ConfigMap != nil:
			kind, name = "ConfigMap", file.ConfigMap.Name
		case file.PersistentVolumeClaim != nil:
			kind, name = "PersistentVolumeClaim", file.PersistentVolumeClaim.ClaimName
		default:
			continue
		}
		var object metav1.PartialObjectMetadata
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		err := r.Direct.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, &object)
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Sprintf("There is no %s %s, which files.%s names: create it, or name the right one in a new ProvingKey.", kind, name, file.field), nil
		case err != nil:
			return "", fmt.Errorf("get %s %s: %w", kind, name, err)
		}
	}
	return "", nil
}
