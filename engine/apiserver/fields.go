package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/schema"
)

// fieldsKey names a field manager: that of a kind, or of its status.
type fieldsKey struct {
	schema.GVK
	subresource string
	// whole says that a request may write all fields.
	whole bool
}

// managers keep the managedFields of objects.
type managers struct {
	now   clock
	known map[fieldsKey]*managedfields.FieldManager
}

// of returns the merger of a kind: the one that kube-apiserver uses.
func (m *managers) of(k kind, key fieldsKey) (*managedfields.FieldManager, error) {
	if f, ok := m.known[key]; ok {
		return f, nil
	}
	gvk := kschema.FromAPIVersionAndKind(key.APIVersion, key.GVK.Kind)
	build := managedfields.NewDefaultCRDFieldManager
	if k.builtin() {
		build = managedfields.NewDefaultFieldManager
	}
	f, err := build(k.converter(), unconverted{}, undefaulted{}, creator{}, gvk, gvk.GroupVersion(), key.subresource, k.reset(key))
	if err != nil {
		return nil, fmt.Errorf("the field manager of %s: %w", key.GVK, err)
	}
	m.known[key] = f
	return f, nil
}

// reset are the fields that a request to an endpoint cannot write.
func (k kind) reset(key fieldsKey) map[fieldpath.APIVersion]fieldpath.Filter {
	set := fieldpath.NewSet()
	switch {
	case k.gvk == requestKind && !key.whole:
		set.Insert(fieldpath.MakePathOrDie("spec"))
		set.Insert(requestReset(key.subresource))
	case key.subresource == "status":
		set.Insert(fieldpath.MakePathOrDie("spec"))
		if !k.builtin() {
			set.Insert(fieldpath.MakePathOrDie("metadata"))
		}
	case key.whole || !k.hasStatus():
		return nil
	default:
		set.Insert(fieldpath.MakePathOrDie("status"))
	}
	return map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(key.APIVersion): fieldpath.NewExcludeSetFilter(set)}
}

// tracked returns the object with the managedFields that follow from a write
// other than apply; old is nil for a creation.
func (m *managers) tracked(k kind, key fieldsKey, old, next Object, manager string) Object {
	f, err := m.of(k, key)
	if err != nil {
		return next
	}
	live := &unstructured.Unstructured{Object: Object{"apiVersion": key.APIVersion, "kind": key.GVK.Kind}}
	if old != nil {
		live.Object = copied(old)
	}
	out, ok := f.UpdateNoErrors(live, &unstructured.Unstructured{Object: next}, manager).(*unstructured.Unstructured)
	if !ok {
		return next
	}
	m.stamp(old, out.Object)
	return out.Object
}

// stamp sets the times of the entries that are new: the clock is the server's.
func (m *managers) stamp(old, next Object) {
	before, _ := metadata(old)["managedFields"].([]any)
	entries, _ := metadata(next)["managedFields"].([]any)
	for _, raw := range entries {
		entry, _ := raw.(Object)
		entry["time"] = m.now.timestamp()
		for _, known := range before {
			k, _ := known.(Object)
			if text(k, "manager") == text(entry, "manager") && text(k, "operation") == text(entry, "operation") &&
				text(k, "subresource") == text(entry, "subresource") && same(k["fieldsV1"], entry["fieldsV1"]) {
				entry["time"] = k["time"]
			}
		}
	}
}

// unconverted, undefaulted and creator are what a field manager asks of a
// server that has one version of each kind, and defaults objects by itself.
type unconverted struct{}

// Convert implements runtime.ObjectConvertor.
func (unconverted) Convert(in, out, _ any) error {
	return fmt.Errorf("no conversion of %T to %T", in, out)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (unconverted) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gvk := in.GetObjectKind().GroupVersionKind()
	if target, ok := to.KindForGroupVersionKinds([]kschema.GroupVersionKind{gvk}); !ok || target != gvk {
		return nil, runtime.NewNotRegisteredGVKErrForTarget("edict", gvk, to)
	}
	return in, nil
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (unconverted) ConvertFieldLabel(_ kschema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

type undefaulted struct{}

// Default implements runtime.ObjectDefaulter.
func (undefaulted) Default(runtime.Object) {}

type creator struct{}

// New implements runtime.ObjectCreater.
func (creator) New(gvk kschema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}
