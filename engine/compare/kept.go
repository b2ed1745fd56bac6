package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// Kept is what stays after an edit: fields of a kind that the policy no longer writes, sorted;
// fields of one object that other managers have as well; or children of a kind.
type Kept struct {
	Policy     string   `json:"policy"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Fields     []string `json:"fields"`
	Children   []string `json:"children,omitempty"`
	// Namespace and Name are set for fields of one object. Managers have these fields as well.
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
	Managers  []string `json:"managers,omitempty"`
}

// String returns a sentence for the output of edict plan.
func (k Kept) String() string {
	fields := strings.Join(k.Fields, ", ")
	switch {
	case len(k.Children) > 0:
		return k.Policy + " " + plan.Orphans{Kind: schema.GVK{APIVersion: k.APIVersion, Kind: k.Kind}, Children: k.Children}.String()
	case k.Name != "":
		return fmt.Sprintf("%s does not apply %s of %s %s any more: it stays, because %s has it, too", k.Policy, fields, k.Kind, strings.TrimPrefix(k.Namespace+"/"+k.Name, "/"), strings.Join(k.Managers, ", "))
	}
	return fmt.Sprintf("%s does not write %s of %s any more: it stays where it is set", k.Policy, fields, k.Kind)
}

// kept returns the fields and children that policies wrote before and do not write after.
func kept(before, after []*plan.Policy) (out []Kept) {
	now, policies := map[string]map[schema.GVK][]string{}, map[string]*plan.Policy{}
	for _, p := range after {
		now[p.ID()], policies[p.ID()] = patched(p), p
	}
	for _, p := range before {
		was := patched(p)
		for _, gvk := range slices.SortedFunc(maps.Keys(was), func(a, b schema.GVK) int { return strings.Compare(a.String(), b.String()) }) {
			fields := slices.DeleteFunc(was[gvk], func(f string) bool { return slices.Contains(now[p.ID()][gvk], f) })
			if len(fields) > 0 {
				out = append(out, Kept{Policy: p.ID(), APIVersion: gvk.APIVersion, Kind: gvk.Kind, Fields: fields})
			}
		}
		for _, orphans := range plan.FindOrphans(p, policies[p.ID()]) {
			out = append(out, Kept{Policy: p.ID(), APIVersion: orphans.Kind.APIVersion, Kind: orphans.Kind.Kind, Fields: []string{}, Children: orphans.Children})
		}
	}
	return out
}

// patched returns the fields that a policy sets in objects by patches, sorted.
func patched(p *plan.Policy) map[schema.GVK][]string {
	out := map[schema.GVK][]string{}
	for _, w := range graph.Writes(p) {
		if _, patches := w.Action.(*plan.Merge); !patches {
			continue
		}
		for _, f := range w.Fields {
			if v := w.Values[f]; f != graph.Computed && (v == nil || v.Type() != types.NullType) {
				out[w.GVK] = append(out[w.GVK], f)
			}
		}
	}
	for gvk, fields := range out {
		slices.Sort(fields)
		out[gvk] = slices.Compact(fields)
	}
	return out
}

// shared returns the fields of an object that policies no longer apply and that stay, because
// another field manager has them, too.
func shared(id simulate.Identity, before, after simulate.Object) (out []Kept) {
	was, is := managed(before), managed(after)
	for _, policy := range slices.Sorted(maps.Keys(was)) {
		name, ours := strings.CutPrefix(policy, world.ManagerPrefix)
		if !ours || after == nil {
			continue
		}
		left := was[policy].Difference(cmp.Or(is[policy], &fieldpath.Set{}))
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
			k.Fields = slices.Compact(slices.Sorted(slices.Values(k.Fields)))
			out = append(out, k)
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
			out[entry.Manager] = set.Union(cmp.Or(out[entry.Manager], &fieldpath.Set{}))
		}
	}
	return out
}
