package compare

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// shared returns the fields of objects that policies no longer apply and that stay, because
// another field manager has them, too.
func shared(before, after []simulate.Object) (out []Kept) {
	old, now := byID(before), byID(after)
	for _, id := range union(old, now) {
		was, is := managed(old[id]), managed(now[id])
		for _, policy := range slices.Sorted(maps.Keys(was)) {
			name, ours := strings.CutPrefix(policy, world.ManagerPrefix)
			if !ours || now[id] == nil {
				continue
			}
			left := was[policy].Difference(setOf(is, policy))
			k := Kept{Policy: name, APIVersion: id.APIVersion(), Kind: id.Kind(), Namespace: id.Namespace(), Name: id.Name()}
			for _, other := range slices.Sorted(maps.Keys(is)) {
				both := left.Intersection(is[other])
				if other == policy || both.Empty() {
					continue
				}
				k.Managers = append(k.Managers, other)
				both.Leaves().Iterate(func(p fieldpath.Path) { k.Fields = append(k.Fields, strings.TrimPrefix(p.String(), ".")) })
			}
			if len(k.Managers) > 0 {
				slices.Sort(k.Fields)
				k.Fields = slices.Compact(k.Fields)
				out = append(out, k)
			}
		}
	}
	return out
}

// managed returns the fields that each manager of an object has.
func managed(o simulate.Object) map[string]*fieldpath.Set {
	out := map[string]*fieldpath.Set{}
	for _, entry := range (&unstructured.Unstructured{Object: o}).GetManagedFields() {
		var set fieldpath.Set
		if entry.FieldsV1 != nil && set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil {
			out[entry.Manager] = set.Union(setOf(out, entry.Manager))
		}
	}
	return out
}

// setOf returns the fields of a manager; the set is empty if it has none.
func setOf(managers map[string]*fieldpath.Set, name string) *fieldpath.Set {
	if set := managers[name]; set != nil {
		return set
	}
	return &fieldpath.Set{}
}
