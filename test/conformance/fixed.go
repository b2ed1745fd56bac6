package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// immutables change fields of objects of each kind, one of a new object at a time. Only
// whether the change is refused is compared: defaults in code make the objects differ.
func immutables(all map[string]*kind) (out []scenario) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k := all[name]
		if len(k.fixed) == 0 {
			continue
		}
		s := scenario{Name: "fixed-" + strings.ToLower(name), Codes: true}
		for i, change := range k.fixed {
			object := fmt.Sprintf("%s-%d", s.Name, i)
			s.Requests = append(s.Requests,
				request{Op: create, Kind: k, Name: object, Body: k.object(object, k.base), Manager: "user"},
				request{Op: patch, Kind: k, Name: object, Body: change, Manager: "edict/p"})
		}
		out = append(out, s)
	}
	return out
}
