package conformance

import "strings"

// applies returns scenarios of maps that become empty, also where the schema requires them, of
// nulls in bodies, and of an apply to the status of an object that does not exist.
func applies(all map[string]*kind) (out []scenario) {
	template := func(v any) Object { return Object{"template": Object{"spec": Object{"nodeSelector": v}}} }
	for _, of := range []struct {
		kind string
		with func(v any) Object
	}{
		{"ConfigMap", func(v any) Object { return Object{"data": v} }},
		{"Secret", func(v any) Object { return Object{"data": v} }},
		{"Deployment", func(v any) Object { return Object{"spec": template(v)} }},
		{"Service", func(v any) Object { return Object{"spec": Object{"selector": v}} }},
		{"Widget", func(v any) Object { return Object{"spec": Object{"labels": v, "place": Object{"labels": v}}} }},
	} {
		out = append(out, scenario{Name: "applies-" + strings.ToLower(of.kind), Requests: emptied(all[of.kind], of.with)})
	}
	w := all["Widget"]
	missing := w.object("gone", Object{"status": Object{"phase": "x"}})
	return append(out, scenario{Name: "applies-status", Requests: []request{
		{Op: apply, Kind: w, Name: "gone", Subresource: "status", Body: missing, Manager: "edict/p", Force: true},
		{Op: patch, Kind: w, Name: "gone", Body: Object{"spec": Object{"replicas": int64(2)}}, Manager: "edict/p"},
	}})
}

// emptied returns requests that fill a map and make it empty, by apply, patch and create.
func emptied(k *kind, with func(v any) Object) (out []request) {
	one, none := Object{"a": "MTIz"}, Object{}
	made := func(name string, v any) Object { return k.object(name, k.base, with(v)) }
	byApply := func(v any) request {
		return request{Op: apply, Kind: k, Name: "a", Body: made("a", v), Manager: "edict/p", Force: true}
	}
	byPatch := func(v any) request { return request{Op: patch, Kind: k, Name: "b", Body: with(v), Manager: "edict/p"} }
	out = append(out, byApply(one), byApply(none), byApply(one), byApply(nil), byApply(one))
	out = append(out, request{Op: apply, Kind: k, Name: "a", Body: k.object("a", k.base), Manager: "edict/p", Force: true})
	out = append(out, request{Op: create, Kind: k, Name: "b", Body: made("b", one), Manager: "user"})
	out = append(out, byPatch(Object{"a": nil}), byPatch(one), byPatch(none), byPatch(nil))
	return append(out,
		request{Op: create, Kind: k, Name: "d", Body: made("d", none), Manager: "user"},
		request{Op: create, Kind: k, Name: "e", Body: made("e", nil), Manager: "user"})
}
