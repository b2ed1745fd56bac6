package apiserver

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// namesText says how objects of some built-in kinds may be named; all others by a DNS
// subdomain. kube-apiserver has that in code only; test/conformance compares the two.
//
//go:embed names.json
var namesText []byte

var names = sync.OnceValue(func() map[string]validation.ValidateNameFunc {
	table := map[string]string{}
	err := json.Unmarshal(namesText, &table)
	out := map[string]validation.ValidateNameFunc{}
	for kind, naming := range table {
		if out[kind] = namings[naming]; out[kind] == nil {
			err = fmt.Errorf("unknown naming %q", naming)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("the embedded table of names: %v", err))
	}
	return out
})

// namings are the functions of the names in that table.
var namings = map[string]validation.ValidateNameFunc{
	"DNS label":    validation.NameIsDNSLabel,
	"path segment": pathSegment,
	// The name is the value of a label of what is made, or is that with 11 characters more.
	"DNS subdomain of 52 characters": atMost(52, validation.NameIsDNSSubdomain),
	"DNS subdomain of 63 characters": atMost(63, validation.NameIsDNSSubdomain),
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// atMost refuses longer names, too.
func atMost(length int, naming validation.ValidateNameFunc) validation.ValidateNameFunc {
	return func(name string, prefix bool) []string {
		wrong := naming(name, prefix)
		if len(name) > length {
			wrong = append(wrong, fmt.Sprintf("must be no more than %d characters", length))
		}
		return wrong
	}
}

// described refuses the metadata of an object as kube-apiserver does that of every kind:
// names, labels, annotations, owners and finalizers. Of an update it looks at those that
// have changed; old is nil for a creation.
func (k kind) described(old, next Object) field.ErrorList {
	given, naming := metadata(next), k.naming()
	if old != nil {
		given, naming = changed(metadata(old), given), anyName
	}
	var m metav1.ObjectMeta
	if runtime.DefaultUnstructuredConverter.FromUnstructured(given, &m) != nil {
		return nil
	}
	return validation.ValidateObjectMeta(&m, m.Namespace != "", naming, field.NewPath("metadata"))
}

func (k kind) naming() validation.ValidateNameFunc {
	if naming := names()[k.name()]; k.builtin() && naming != nil {
		return naming
	}
	return validation.NameIsDNSSubdomain
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
