package proverpod

import (
	"fmt"
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// Volumes collects what is mounted into a pod. Each claim, image and Secret is mounted once, however often it is named.
type Volumes struct {
	volumes     []corev1.Volume
	mounts      []corev1.VolumeMount
	directories map[string]string // of a claim, image or Secret, by its identity
}

// NewVolumes returns the volumes every pod has: its order, its token and its scratch folder.
func NewVolumes(scratch corev1.EmptyDirVolumeSource) *Volumes {
	v := &Volumes{directories: map[string]string{}}
	v.add("order", path.Dir(order.Path), true, corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{{
			Path:     path.Base(order.Path),
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + order.Annotation + "']"},
		}},
	}})
	v.add("scratch", order.ScratchDir, false, corev1.VolumeSource{EmptyDir: &scratch})
	// The one token that the pod needs, where clients look for it; nothing is mounted automatically.
	v.add("token", "/var/run/secrets/kubernetes.io/serviceaccount", true, corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: ptr.To[int64](3600)}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path:     "namespace",
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}})
	return v
}

func (v *Volumes) add(name, dir string, readOnly bool, source corev1.VolumeSource) {
	v.volumes = append(v.volumes, corev1.Volume{Name: name, VolumeSource: source})
	v.mounts = append(v.mounts, corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: readOnly})
}

// once mounts a source below base unless one of the same identity is there already, and returns its folder.
func (v *Volumes) once(prefix, base, identity string, source corev1.VolumeSource) string {
	identity = prefix + "\x00" + identity
	if dir, ok := v.directories[identity]; ok {
		return dir
	}
	n := 0
	for known := range v.directories {
		if len(known) > len(prefix) && known[:len(prefix)+1] == prefix+"\x00" {
			n++
		}
	}
	dir := path.Join(base, strconv.Itoa(n))
	v.directories[identity] = dir
	v.add(fmt.Sprintf("%s-%d", prefix, n), dir, true, source)
	return dir
}

// claim mounts a PersistentVolumeClaim read-only and returns its folder.
func (v *Volumes) claim(prefix, base, name string) string {
	return v.once(prefix, base, name, corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name, ReadOnly: true},
	})
}

// image mounts an OCI image and returns its folder.
func (v *Volumes) image(file *api.ImageFile) string {
	return v.once("key-image", order.KeyImagesDir, string(file.PullPolicy)+"\x00"+file.Reference, corev1.VolumeSource{
		Image: &corev1.ImageVolumeSource{Reference: file.Reference, PullPolicy: file.PullPolicy},
	})
}

// credentials mounts a Secret and returns its folder, "" if there is none. It is optional: that a Secret is missing
// concerns only those that need it, and the pod can say so.
func (v *Volumes) credentials(ref *api.SecretReference) string {
	if ref == nil {
		return ""
	}
	return v.once("credentials", order.CredentialsDir, ref.Name, corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: ref.Name, Optional: ptr.To(true)},
	})
}

// Inputs mounts the inputs of a job and returns how the order names them.
func (v *Volumes) Inputs(inputs []api.ProofInput) []order.Input {
	listed := make([]order.Input, 0, len(inputs))
	var sources []corev1.VolumeProjection
	for i := range inputs {
		in := &inputs[i]
		o := order.Input{Name: in.Name, File: order.File{Digest: string(in.Digest)}}
		index := strconv.Itoa(i)
		switch {
		case in.Inline != nil:
			o.Inline = true
		case in.ConfigMap != nil:
			o.Root, o.Path = order.InputsDir, index
			sources = append(sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: in.ConfigMap.Name},
				Items:                []corev1.KeyToPath{{Key: in.ConfigMap.Key, Path: index}},
				Optional:             ptr.To(true),
			}})
		case in.Secret != nil:
			o.Root, o.Path = order.InputsDir, index
			sources = append(sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: in.Secret.Name},
				Items:                []corev1.KeyToPath{{Key: in.Secret.Key, Path: index}},
				Optional:             ptr.To(true),
			}})
		case in.PersistentVolumeClaim != nil:
			o.Root = v.claim("input-claim", order.InputClaimsDir, in.PersistentVolumeClaim.ClaimName)
			o.Path = string(in.PersistentVolumeClaim.Path)
		case in.URI != nil:
			o.URI = in.URI.URL
			o.Credentials = v.credentials(in.URI.SecretRef)
		}
		listed = append(listed, o)
	}
	if len(sources) > 0 {
		v.add("inputs", order.InputsDir, true, corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}})
	}
	return listed
}
