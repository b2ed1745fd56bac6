package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// names are tried with each kind: what a DNS subdomain, a DNS label, one of RFC 1035 and a
// segment of a path may be differs in them. %s is a text that no other request has.
var names = []string{"%s-a", "%s.a", "1%s", "%s_a", "%s:A", "%s-", strings.Repeat("a", 50) + "%s", strings.Repeat("a", 61) + "%s", strings.Repeat("a", 250) + "%s"}

// named makes objects with each of the names. Only whether they are refused is compared.
func named() (out []scenario, err error) {
	all, err := kinds()
	if err != nil {
		return nil, err
	}
	list, err := objectsIn("testdata/values.yaml", valuesText)
	if err != nil {
		return nil, err
	}
	more, err := objectsIn("testdata/demanded.yaml", demandedText)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	list = append(more, list...)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	for _, k := range list {
		if seen[k.Kind] {
			continue
		}
		seen[k.Kind] = true
		s := scenario{Name: "names-" + strings.ToLower(k.Kind), Codes: true}
		for i, name := range names {
			name = fmt.Sprintf(name, fmt.Sprintf("n%d%d", len(out), i))
			s.Requests = append(s.Requests, request{Op: create, Kind: k, Name: name, Body: k.object(name, k.base), Manager: "user"})
		}
		out = append(out, s)
	}
	return out, nil
}

// described are metadata that no kind may have, beside some that any may.
var described = []Object{
	{"labels": Object{"a": "b.c_d-e", "example.com/A": ""}},
	{"labels": Object{"a b": "c"}},
	{"labels": Object{"a": "b c"}},
	{"labels": Object{"a": "-b"}},
	{"labels": Object{"a": strings.Repeat("b", 64)}},
	{"labels": Object{"/a": "b"}},
	{"labels": Object{"Example.com/a": "b"}},
	{"annotations": Object{"Example.com/a": "b c"}},
	{"annotations": Object{"a b": "c"}},
	{"annotations": Object{"a": strings.Repeat("b", 256<<10)}},
	{"ownerReferences": []any{owner("a", Object{"uid": ""})}},
	{"ownerReferences": []any{owner("", Object{})}},
	{"ownerReferences": []any{owner("a", Object{"apiVersion": "a/b/c"})}},
	{"ownerReferences": []any{owner("a", Object{"kind": "Event"})}},
	{"ownerReferences": []any{owner("a", Object{"controller": true}), owner("b", Object{"controller": true, "uid": "u-b"})}},
	{"finalizers": []any{"example.com/a"}},
	{"finalizers": []any{"a b"}},
	{"finalizers": []any{"example.com/a/b"}},
	{"finalizers": []any{"orphan", "foregroundDeletion"}},
}

func owner(name string, fields Object) Object {
	out := Object{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": "u-a"}
	merge(out, fields)
	return out
}

// descriptions make objects with such metadata, and change those of one.
func descriptions(all map[string]*kind) (out []scenario) {
	for _, name := range []string{"ConfigMap", "Deployment", "Widget"} {
		k := all[name]
		s := scenario{Name: "described-" + strings.ToLower(name), Codes: true, Requests: []request{{Op: create, Kind: k, Name: "x", Body: k.object("x", k.base), Manager: "user"}}}
		for i, m := range described {
			name := fmt.Sprintf("x%d", i)
			s.Requests = append(s.Requests,
				request{Op: create, Kind: k, Name: name, Body: k.object(name, k.base, Object{"metadata": m}), Manager: "user"},
				request{Op: patch, Kind: k, Name: "x", Body: Object{"metadata": m}, Manager: "user"})
		}
		for _, m := range []Object{{"generateName": "a_"}, {"ownerReferences": []any{owner("a", Object{})}}} { // the garbage collector deletes the last
			s.Requests = append(s.Requests, request{Op: create, Kind: k, Name: "y", Body: k.object("y", k.base, Object{"metadata": m}), Manager: "user"})
		}
		out = append(out, s)
	}
	return out
}
