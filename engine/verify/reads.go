package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// fixed are fields that nobody changes from outside.
var fixed = []string{
	"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.generation",
	"metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.ownerReferences", "metadata.managedFields",
	"metadata.annotations." + children.PrimaryName, "metadata.annotations." + children.PrimaryNamespace,
}

// each stands in a path for every item of a list and every value of a map.
const each = "[*]"

// readsOf returns the paths of the fields that policies read, by kind.
func readsOf(o *Options) map[schema.GVK][][]string {
	masks := map[schema.GVK]*value.Mask{}
	for _, p := range o.Policies {
		for kind, mask := range graph.Reads(p) {
			masks[kind] = value.Merge(masks[kind], mask)
		}
		for _, t := range p.Targets { // somebody else changes what an action writes
			masks[t.Source.GVK] = value.Merge(masks[t.Source.GVK], t.Reads)
		}
	}
	out := map[schema.GVK][][]string{}
	for kind, mask := range masks {
		out[kind] = slices.DeleteFunc(paths(mask, nil), func(path []string) bool {
			return slices.Contains(fixed, strings.Join(path, ".")) || len(path) > 1 && path[1] == "ownerReferences"
		})
	}
	return out
}

// paths returns the fields under a mask that it names to the end.
func paths(m *value.Mask, at []string) (out [][]string) {
	if m == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		out = append(out, paths(m.Fields[name], append(slices.Clone(at), name))...)
	}
	if m.Each != nil {
		out = append(out, paths(m.Each, append(slices.Clone(at), each))...)
	}
	if len(out) == 0 && len(at) > 0 {
		out = [][]string{at}
	}
	return out
}
