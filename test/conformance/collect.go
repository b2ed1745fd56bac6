package conformance

import (
	"fmt"
	"math/rand/v2"
)

const graphs = 24

// collections make graphs of owners and delete in them. They are of built-in
// kinds: the collector of a cluster sees a new CRD half a minute later.
func collections(seed uint64, all map[string]*kind) []scenario {
	var out []scenario
	for n := range graphs {
		g := &graph{Rand: rand.New(rand.NewPCG(seed, 1000+uint64(n))), owned: all["ConfigMap"], owner: all["ConfigMap"]}
		if n%4 == 3 {
			g.owner = all["Job"]
		}
		g.build()
		out = append(out, scenario{Name: fmt.Sprintf("collect-%d", n), Requests: g.out, Collected: true})
	}
	return out
}

type graph struct {
	*rand.Rand
	owner, owned *kind
	out          []request
}

func (g *graph) build() {
	g.make(g.owner, "root")
	g.make(g.owner, "second")
	for i := range 2 + g.IntN(3) {
		name := fmt.Sprintf("child-%d", i)
		owners := []any{g.reference(g.owner, "root")}
		if g.IntN(3) == 0 {
			owners = append(owners, g.reference(g.owner, "second"))
		}
		g.make(g.owned, name, owners...)
		if g.IntN(2) == 0 {
			reference := g.reference(g.owned, name)
			reference["blockOwnerDeletion"] = true
			g.make(g.owned, "grand"+name, reference)
		}
	}
	for _, name := range []string{"root", "second"} {
		propagation := []string{"Background", "Foreground", "Orphan", ""}[g.IntN(4)]
		g.out = append(g.out, request{Op: remove, Kind: g.owner, Name: name, Propagation: propagation})
	}
	for _, name := range []string{"root", "child-0", "child-1"} {
		of := g.owned
		if name == "root" {
			of = g.owner
		}
		g.out = append(g.out, request{Op: patch, Kind: of, Name: name, Manager: "user", Body: Object{"metadata": Object{"$finalizer": "example.com/keep"}}})
	}
}

func (g *graph) make(k *kind, name string, owners ...any) {
	body := k.object(name, k.base)
	m, _ := body["metadata"].(Object)
	if len(owners) > 0 {
		m["ownerReferences"] = owners
	}
	// An owner with a finalizer of its own and dependents that do not block it
	// is a race in kube-controller-manager.
	if len(owners) > 0 && g.IntN(4) == 0 {
		m["finalizers"] = []any{"example.com/keep"}
	}
	g.out = append(g.out, request{Op: create, Kind: k, Name: name, Body: body, Manager: "user"})
}

func (g *graph) reference(k *kind, name string) Object {
	out := Object{"apiVersion": k.APIVersion, "kind": k.Kind, "name": name, "uid": "$uid:" + name}
	if g.IntN(2) == 0 {
		out["blockOwnerDeletion"] = true
	}
	return out
}
