//go:build apiserver

package integration

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/simulated"
	"github.com/cuzk-dev/cuzk/controllers/internal/verifyingkey"
	"github.com/cuzk-dev/cuzk/controllers/provingkey"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// newKey is a ProvingKey whose files are in an image.
func newKey(namespace, name string, change ...func(*api.ProvingKey)) *api.ProvingKey {
	k := &api.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: api.ProvingKeySpec{
			Format: api.KeyFormatSnarkjs, Curve: api.CurveBN254,
			Files: api.KeyFiles{ProvingKey: api.KeyFile{Image: &api.ImageFile{Reference: "keys:1", Path: "circuit.zkey"}}},
		},
	}
	for _, f := range change {
		f(k)
	}
	return k
}

func keyIs(t *testing.T, key *api.ProvingKey, status metav1.ConditionStatus, reason string) *api.ProvingKey {
	t.Helper()
	return eventually(t, key, "Ready "+string(status)+" "+reason, func(k *api.ProvingKey) bool {
		c := meta.FindStatusCondition(k.Status.Conditions, api.ConditionReady)
		return c != nil && c.Status == status && c.Reason == reason
	})
}

// applyPart does what `cuzk work --inspect-key` does with a verifying key.
func applyPart(ctx context.Context, c client.Client, namespace, name string, data []byte) error {
	cm := corev1ac.ConfigMap(name, namespace).WithBinaryData(map[string][]byte{order.InspectionPartKey: data})
	return c.Apply(ctx, cm, client.FieldOwner(order.InspectionFieldManager), client.ForceOwnership)
}

func TestKeys(t *testing.T) {
	namespace, _ := newNamespace(t)
	operator(t, namespace)

	// A key whose verifying key is only inside its file, and a job that waits for it.
	t.Run("Inspection", func(t *testing.T) {
		t.Parallel()
		trapdoor := simulated.NewKey(1)
		key := newKey(namespace, "sealed")
		may := map[string]error{}
		provers.Store(namespace+"/key/sealed", prover(func(ctx context.Context, p *proverPod) (int32, string) {
			o, err := order.ParseInspectionOrder([]byte(p.Annotations[order.Annotation]))
			if err != nil {
				return 2, ""
			}
			vk := trapdoor.VerifyingKey()
			for err = applyPart(ctx, p.client, namespace, o.Outputs[0], vk); apierrors.IsForbidden(err) && ctx.Err() == nil; {
				err = applyPart(ctx, p.client, namespace, o.Outputs[0], vk)
			}
			if err != nil {
				return 7, err.Error()
			}
			// What its identity must not do.
			may["another ConfigMap"] = applyPart(ctx, p.client, namespace, "other", vk)
			may["read Secrets"] = p.client.List(ctx, &corev1.SecretList{}, client.InNamespace(namespace))
			may["read ProofJobs"] = p.client.List(ctx, &api.ProofJobList{}, client.InNamespace(namespace))
			return 0, string(order.InspectionResult{
				Curve: "BN254", PublicInputs: 1, Wires: 5, DomainSize: 8, ProvingKeyDigest: "sha256:" + strings.Repeat("ab", 32), ProvingKeyBytes: 1000,
				StructureDigest: "sha256:" + strings.Repeat("cd", 32),
				VerifyingKey:    &order.InspectionVerifyingKey{SizeBytes: int64(len(vk)), Digest: string(verifyingkey.Digest(vk)), Parts: 1},
			}.Marshal())
		}))
		job := newJob(namespace, "waits", 1, func(j *api.ProofJob) { j.Spec.ProvingKeyRef.Name = "sealed" })
		start(t, job, honest(trapdoor))
		becomes(t, job, api.ConditionKeyReady, metav1.ConditionFalse, api.ReasonKeyNotFound)
		create(t, key)

		keyIs(t, key, metav1.ConditionTrue, api.ReasonVerifyingKeyLoaded)
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		becomes(t, job, api.ConditionVerified, metav1.ConditionTrue, api.ReasonAgainstDeclaredInputs)
		if s := key.Status; s.VerifyingKey.Digest != verifyingkey.Digest(trapdoor.VerifyingKey()) || ptr.Deref(s.Facts.DomainSize, 0) != 8 || s.ProvingKeyDigest == "" {
			t.Errorf("status %+v", s)
		}
		for what, err := range may {
			if !apierrors.IsForbidden(err) {
				t.Errorf("the inspection pod may %s: %v", what, err)
			}
		}
		goneAfter(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sealed-inspect"}})

		// Its ConfigMap is sealed: what was pinned stays.
		cm := eventually(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: key.Status.VerifyingKey.ConfigMaps[0].Name}}, "a sealed ConfigMap", func(cm *corev1.ConfigMap) bool {
			return ptr.Deref(cm.Immutable, false)
		})
		if err := applyPart(t.Context(), admin, namespace, cm.Name, []byte("another")); err == nil {
			t.Error("the verifying key can be exchanged")
		}

		// All that was made for the key goes with it.
		if err := admin.Delete(t.Context(), key, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		goneAfter(t, cm)
		goneAfter(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sealed-inspect"}})
		goneAfter(t, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sealed-inspect"}})
	})

	// A pod that says one thing and writes another is not believed.
	t.Run("InspectionThatLies", func(t *testing.T) {
		t.Parallel()
		key := newKey(namespace, "lies")
		provers.Store(namespace+"/key/lies", prover(func(ctx context.Context, p *proverPod) (int32, string) {
			o, err := order.ParseInspectionOrder([]byte(p.Annotations[order.Annotation]))
			if err != nil {
				return 2, ""
			}
			for err = applyPart(ctx, p.client, namespace, o.Outputs[0], simulated.NewKey(1).VerifyingKey()); apierrors.IsForbidden(err) && ctx.Err() == nil; {
				err = applyPart(ctx, p.client, namespace, o.Outputs[0], simulated.NewKey(1).VerifyingKey())
			}
			return 0, string(order.InspectionResult{Curve: "BN254", PublicInputs: 1, VerifyingKey: &order.InspectionVerifyingKey{
				Digest: string(verifyingkey.Digest(simulated.NewKey(1).VerifyingKey())), Parts: 1,
			}}.Marshal())
		}))
		create(t, key)
		keyIs(t, key, metav1.ConditionFalse, api.ReasonDigestMismatch)
	})

	t.Run("InspectionFails", func(t *testing.T) {
		t.Parallel()
		key := newKey(namespace, "broken")
		provers.Store(namespace+"/key/broken", prover(func(context.Context, *proverPod) (int32, string) {
			return int32(failure.Key.ExitCode()), string(order.InspectionResult{Class: "Key", Message: "circuit.zkey: section 3 is cut off"}.Marshal())
		}))
		create(t, key)
		keyIs(t, key, metav1.ConditionFalse, api.ReasonInspectionFailed)
		if m := meta.FindStatusCondition(key.Status.Conditions, api.ConditionReady).Message; !strings.Contains(m, "section 3 is cut off") || !strings.Contains(m, "delete Job broken-inspect") {
			t.Errorf("message %q", m)
		}
	})

	// A Job without the operator's labels is not in its cache.
	t.Run("NameOfTheInspectionIsTaken", func(t *testing.T) {
		t.Parallel()
		taken := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "taken-inspect"},
			Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "other:1"}},
			}}},
		}
		create(t, taken)
		key := newKey(namespace, "taken")
		create(t, key)
		keyIs(t, key, metav1.ConditionFalse, api.ReasonInspectionFailed)
		if m := meta.FindStatusCondition(key.Status.Conditions, api.ConditionReady).Message; !strings.Contains(m, "Job taken-inspect that does not belong to this ProvingKey") {
			t.Errorf("message %q", m)
		}
		if err := admin.Delete(t.Context(), taken, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		touchKey(t, key)
		keyIs(t, key, metav1.ConditionFalse, api.ReasonInspecting)
	})

	t.Run("ConfigMaps", func(t *testing.T) {
		t.Parallel()
		trapdoor := simulated.NewKey(2)
		fromConfigMap := func(k *api.ProvingKey) {
			k.Spec.Files.VerifyingKey = &api.KeyFile{ConfigMap: &api.ConfigMapKey{Name: k.Name, Key: "vk.json"}}
		}
		key := newKey(namespace, "mapped", fromConfigMap)
		create(t, key)
		keyIs(t, key, metav1.ConditionFalse, api.ReasonSourceNotFound)
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mapped"}, Data: map[string]string{"vk.json": string(trapdoor.VerifyingKey())}}
		create(t, cm)
		touchKey(t, key)
		keyIs(t, key, metav1.ConditionTrue, api.ReasonVerifyingKeyLoaded)
		if f := key.Status.Facts; ptr.Deref(f.PublicInputs, 0) != 2 {
			t.Errorf("facts %+v", f)
		}
		// Other content under the same name is not the key that was pinned.
		cm.Data["vk.json"] = string(simulated.NewKey(2).VerifyingKey())
		if err := admin.Update(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		touchKey(t, key)
		keyIs(t, key, metav1.ConditionFalse, api.ReasonDigestMismatch)
		if !meta.IsStatusConditionTrue(key.Status.Conditions, api.ConditionDegraded) {
			t.Error("the key is not degraded")
		}
	})

	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		var damaged map[string]any
		if err := json.Unmarshal(simulated.NewKey(1).VerifyingKey(), &damaged); err != nil {
			t.Fatal(err)
		}
		damaged["vk_alpha_1"] = []string{"1", "3", "1"} // not on the curve
		data, err := json.Marshal(damaged)
		if err != nil {
			t.Fatal(err)
		}
		off := newKey(namespace, "off-curve", func(k *api.ProvingKey) {
			k.Spec.Files.VerifyingKey = &api.KeyFile{Inline: &api.InlineFile{Text: ptr.To(string(data))}}
		})
		create(t, off)
		keyIs(t, off, metav1.ConditionFalse, api.ReasonVerifyingKeyInvalid)
		claim := newKey(namespace, "no-claim", func(k *api.ProvingKey) {
			k.Spec.Files.ProvingKey = api.KeyFile{PersistentVolumeClaim: &api.ClaimPath{ClaimName: "nowhere", Path: "a.zkey"}}
		})
		create(t, claim)
		keyIs(t, claim, metav1.ConditionFalse, api.ReasonSourceNotFound)
	})
}

// What was found of a key is not said of another one that was made under its name meanwhile.
func TestStatusStaysWithItsKey(t *testing.T) {
	namespace, _ := newNamespace(t)
	at := client.ObjectKey{Namespace: namespace, Name: "key"}
	var earlier api.ProvingKey
	if err := admin.Get(t.Context(), at, &earlier); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(t.Context(), earlier.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	create(t, newKey(namespace, "key"))

	c, err := client.NewWithWatch(managerConfig, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	late := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if key, ok := object.(*api.ProvingKey); ok {
				earlier.DeepCopyInto(key)
				return nil
			}
			return c.Get(ctx, at, object, opts...)
		},
	})
	r := &provingkey.Reconciler{Client: late, Direct: c, Clock: clock.RealClock{}, Recorder: events.NewFakeRecorder(1)}
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: at})
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("the key is looked at again after %s (%v)", result.RequeueAfter, err)
	}
	var now api.ProvingKey
	if err := admin.Get(t.Context(), at, &now); err != nil {
		t.Fatal(err)
	}
	if now.UID == earlier.UID || len(now.Status.Conditions) > 0 {
		t.Errorf("the new key has the status of the earlier one: %+v", now.Status)
	}
}

// touchKey makes the operator look at a key.
func touchKey(t *testing.T, key *api.ProvingKey) {
	t.Helper()
	if err := admin.Patch(t.Context(), key, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"touched":"`+key.ResourceVersion+`"}}}`))); err != nil {
		t.Fatal(err)
	}
}
