package byhand

import (
	"encoding/json"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Write is a patch as it is sent.
type Write struct {
	Kind, Name, Subresource string
	// Body is the JSON merge patch, Plain the same without encoding it: one of them
	// is set.
	Body  []byte
	Plain map[string]any
}

// Patcher sends the difference between an object and its copy from before.
type Patcher interface {
	Patch(kind, subresource string, before, now client.Object) error
}

// Encoded sends patches as controller-runtime does: both objects are encoded, and
// their difference is the body. They are sent on the condition that the object has
// not moved on.
type Encoded struct{ Send func(Write) }

// Patch implements Patcher.
func (e Encoded) Patch(kind, subresource string, before, now client.Object) error {
	body, err := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(now)
	if err != nil {
		return err
	}
	e.Send(Write{Kind: kind, Name: now.GetName(), Subresource: subresource, Body: body})
	moved(now, subresource)
	return nil
}

// Plain sends patches of replicas without encoding them.
type Plain struct{ Send func(Write) }

// Patch implements Patcher.
func (p Plain) Patch(kind, subresource string, before, now client.Object) error {
	body := map[string]any{"metadata": map[string]any{"resourceVersion": before.GetResourceVersion()}}
	was, is := before.(*Replica), now.(*Replica)
	if subresource == "" {
		spec := map[string]any{}
		setField(spec, "nodeName", was.Spec.NodeName, is.Spec.NodeName)
		setField(spec, "lvmVolumeGroupName", was.Spec.LVMVolumeGroupName, is.Spec.LVMVolumeGroupName)
		setField(spec, "lvmVolumeGroupThinPoolName", was.Spec.LVMVolumeGroupThinPoolName, is.Spec.LVMVolumeGroupThinPoolName)
		body["spec"] = spec
	} else {
		body["status"] = map[string]any{"conditions": plainConditions(is)}
	}
	p.Send(Write{Kind: kind, Name: now.GetName(), Subresource: subresource, Plain: body})
	moved(now, subresource)
	return nil
}

func setField(to map[string]any, name, was, is string) {
	switch {
	case was == is:
	case is == "":
		to[name] = nil
	default:
		to[name] = is
	}
}

func plainConditions(r *Replica) []any {
	out := make([]any, len(r.Status.Conditions))
	for i, c := range r.Status.Conditions {
		one := map[string]any{"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message, "lastTransitionTime": c.LastTransitionTime}
		if c.ObservedGeneration != 0 {
			one["observedGeneration"] = c.ObservedGeneration
		}
		out[i] = one
	}
	return out
}

// moved sets the version that a write has led to: the next one, and the next
// generation if the spec has changed.
func moved(o client.Object, subresource string) {
	version, err := strconv.Atoi(o.GetResourceVersion())
	if err != nil {
		return // written without a version
	}
	o.SetResourceVersion(strconv.Itoa(version + 1))
	if subresource == "" {
		o.SetGeneration(o.GetGeneration() + 1)
	}
}

// Decoded returns the body of a patch as JSON values.
func (w Write) Decoded() (map[string]any, error) {
	text := w.Body
	if w.Plain != nil {
		encoded, err := json.Marshal(w.Plain)
		if err != nil {
			return nil, err
		}
		text = encoded
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}
