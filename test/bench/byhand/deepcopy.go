package byhand

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The copies below are what deepcopy-gen writes.

// DeepCopyObject implements runtime.Object.
func (in *StoragePool) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.VolumeGroups = slices.Clone(in.Spec.VolumeGroups)
	out.Spec.Zones = slices.Clone(in.Spec.Zones)
	out.Spec.NodeLabelSelector = in.Spec.NodeLabelSelector.DeepCopy()
	out.Status.Conditions = copyConditions(in.Status.Conditions)
	out.Status.EligibleNodes = copyNodes(in.Status.EligibleNodes)
	return &out
}

func copyNodes(in []EligibleNode) []EligibleNode {
	if in == nil {
		return nil
	}
	out := make([]EligibleNode, len(in))
	for i := range in {
		out[i] = in[i]
		out[i].VolumeGroups = slices.Clone(in[i].VolumeGroups)
	}
	return out
}

func copyConditions(in []metav1.Condition) []metav1.Condition {
	if in == nil {
		return nil
	}
	out := make([]metav1.Condition, len(in))
	for i := range in {
		in[i].DeepCopyInto(&out[i])
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *Volume) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Size = in.Spec.Size.DeepCopy()
	if in.Status.Configuration != nil {
		configuration := *in.Status.Configuration
		out.Status.Configuration = &configuration
	}
	out.Status.DesiredAttachTo = slices.Clone(in.Status.DesiredAttachTo)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *Replica) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = copyConditions(in.Status.Conditions)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *VolumeGroup) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.ThinPools = slices.Clone(in.Spec.ThinPools)
	out.Status.Conditions = copyConditions(in.Status.Conditions)
	out.Status.ThinPools = slices.Clone(in.Status.ThinPools)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *Resource) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}
