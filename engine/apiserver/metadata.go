package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// described refuses the metadata of an object as kube-apiserver does that of every kind:
// names, labels, annotations, owners and finalizers. Of an update it looks at those that
// have changed; old is nil for a creation.
func (k kind) described(old, next Object) field.ErrorList {
	given, naming := metadata(next), k.naming
	if old != nil {
		given, naming = changed(metadata(old), given), anyName
	}
	var m metav1.ObjectMeta
	if runtime.DefaultUnstructuredConverter.FromUnstructured(given, &m) != nil {
		return nil
	}
	return validation.ValidateObjectMeta(&m, m.Namespace != "", naming, field.NewPath("metadata"))
}

func anyName(string, bool) []string { return nil }

// changed returns the labels, annotations, owners and finalizers that an object has not had:
// a world may begin with others than kube-apiserver takes.
func changed(old, next Object) Object {
	return Object{
		"name":   next["name"],
		"labels": newEntries(old["labels"], next["labels"]), "annotations": newEntries(old["annotations"], next["annotations"]),
		"ownerReferences": newItems(old["ownerReferences"], next["ownerReferences"]), "finalizers": newItems(old["finalizers"], next["finalizers"]),
	}
}

func newEntries(old, next any) Object {
	before, _ := old.(Object)
	out := Object{}
	entries, _ := next.(Object)
	for name, v := range entries {
		if !same(before[name], v) {
			out[name] = v
		}
	}
	return out
}

// newItems returns the items that are new. One that is may exclude another, so then it
// returns all.
func newItems(old, next any) []any {
	before, _ := old.([]any)
	items, _ := next.([]any)
	known := func(item any) bool { return slices.ContainsFunc(before, func(b any) bool { return same(b, item) }) }
	if !slices.ContainsFunc(items, func(item any) bool { return !known(item) }) {
		return nil
	}
	return items
}
