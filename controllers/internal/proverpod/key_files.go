package proverpod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// Key mounts the files of a proving key and returns how the order names them.
func (v *Volumes) Key(key *api.ProvingKey) order.Key {
	k := order.Key{
		Name:   key.Name,
		UID:    string(key.UID),
		Format: string(key.Spec.Format),
		Curve:  string(key.Spec.Curve),
	}
	var sources []corev1.VolumeProjection
	file := func(role string, f *api.KeyFile) *order.File {
		if f == nil {
			return nil
		}
		o := &order.File{SizeBytes: ptr.Deref(f.SizeBytes, 0), Digest: string(f.Digest)}
		switch {
		case f.Inline != nil:
			o.Inline = f.Inline.Bytes()
		case f.ConfigMap != nil:
			o.Root, o.Path = order.KeyDir, role
			sources = append(sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: f.ConfigMap.Name},
				Items:                []corev1.KeyToPath{{Key: f.ConfigMap.Key, Path: role}},
			}})
		case f.PersistentVolumeClaim != nil:
			o.Root = v.claim("key-claim", order.KeyClaimsDir, f.PersistentVolumeClaim.ClaimName)
			o.Path = string(f.PersistentVolumeClaim.Path)
		case f.Image != nil:
			o.Root = v.image(f.Image)
			o.Path = string(f.Image.Path)
		case f.URI != nil:
			o.URI = f.URI.URL
			o.Credentials = v.credentials(f.URI.SecretRef)
		}
		return o
	}
	files := &key.Spec.Files
	k.ProvingKey = *file("provingKey", &files.ProvingKey)
	k.VerifyingKey = file("verifyingKey", files.VerifyingKey)
	k.ConstraintSystem = file("constraintSystem", files.ConstraintSystem)
	k.WitnessGenerator = file("witnessGenerator", files.WitnessGenerator)
	if len(sources) > 0 {
		v.add("key", order.KeyDir, true, corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}})
	}
	return k
}
