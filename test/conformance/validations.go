package conformance

import "fmt"

// validations write each of the values of a kind: in an object that is made, that is
// applied, and that is changed, alone and beside others.
func validations(k *kind) []scenario {
	made, applied := scenario{Name: k.resource + "-create"}, scenario{Name: k.resource + "-apply"}
	changed := scenario{Name: k.resource + "-patch", Requests: []request{{Op: create, Kind: k, Name: "a", Body: k.object("a", k.base), Manager: "user"}}}
	for i, f := range k.fragments {
		name := fmt.Sprint("v", i)
		made.Requests = append(made.Requests, request{Op: create, Kind: k, Name: name, Body: k.object(name, k.base, f), Manager: "user"})
		applied.Requests = append(applied.Requests, request{Op: apply, Kind: k, Name: name, Body: k.object(name, k.base, f), Manager: "edict/p"})
		changed.Requests = append(changed.Requests, request{Op: patch, Kind: k, Name: "a", Body: f, Manager: "edict/p"})
	}
	for i, p := range k.patches {
		name := fmt.Sprint("p", i)
		made.Requests = append(made.Requests, request{Op: create, Kind: k, Name: name, Body: k.object(name, k.base, p), Manager: "user"})
		applied.Requests = append(applied.Requests, request{Op: apply, Kind: k, Name: name, Body: k.object(name, k.base, p), Manager: "edict/p"})
		changed.Requests = append(changed.Requests, request{Op: patch, Kind: k, Name: "a", Body: p, Manager: "edict/p"})
	}
	for _, s := range k.statuses {
		changed.Requests = append(changed.Requests, request{Op: patch, Kind: k, Name: "a", Subresource: "status", Body: s, Manager: "edict/p"})
	}
	return []scenario{made, applied, changed}
}
