package conformance

import "strings"

// selections are requests of objects that do, or do not, select the Pods that they make.
// Only whether they are refused is compared.
func selections(all map[string]*kind) (out []scenario) {
	for _, name := range []string{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"} {
		k := all[name]
		s := scenario{Name: "selects-" + strings.ToLower(name), Codes: true}
		for _, spec := range []Object{
			selecting(Object{"matchLabels": Object{"app": "d"}}, Object{"app": "d", "more": "x"}),
			selecting(Object{"matchLabels": Object{"app": "d"}}, Object{"app": "e"}),
			selecting(Object{"matchLabels": Object{"app": "d"}}, Object{}),
			selecting(Object{"matchExpressions": []any{Object{"key": "app", "operator": "Exists"}}}, Object{"app": "d"}),
			selecting(Object{"matchExpressions": []any{Object{"key": "app", "operator": "In", "values": []any{"e"}}}}, Object{"app": "d"}),
			selecting(Object{"matchExpressions": []any{Object{"key": "app", "operator": "In"}}}, Object{"app": "d"}),
			selecting(Object{}, Object{"app": "d"}),
		} {
			name := []string{"a", "b", "c", "d", "e", "f", "g"}[len(s.Requests)]
			s.Requests = append(s.Requests, request{Op: create, Kind: k, Name: name, Body: Object{"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": Object{"name": name}, "spec": spec}, Manager: "user"})
		}
		change := func(labels Object) request {
			return request{Op: patch, Kind: k, Name: "a", Body: Object{"spec": Object{"template": Object{"metadata": Object{"labels": labels}}}}, Manager: "user"}
		}
		s.Requests = append(s.Requests, change(Object{"more": "y"}), change(Object{"app": "e"}))
		out = append(out, s)
	}
	return out
}

func selecting(selector, labels Object) Object {
	return Object{"selector": selector, "template": Object{
		"metadata": Object{"labels": labels}, "spec": Object{"containers": []any{Object{"name": "c", "image": "i:1"}}},
	}}
}
