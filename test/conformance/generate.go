package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// generator makes the requests of one scenario.
type generator struct {
	*rand.Rand
	kind *kind
	out  []request
	// there are the objects that have been made and not been deleted since.
	there map[string]bool
}

const (
	perKind     = 12 // scenarios
	perScenario = 14 // requests
)

// generate makes all scenarios from a seed.
func generate(seed uint64) ([]scenario, error) {
	all, err := kinds()
	if err != nil {
		return nil, err
	}
	var out []scenario
	for _, name := range []string{"ConfigMap", "Deployment", "Gadget", "Job", "Pod", "ResourceQuota", "Secret", "Service", "Widget"} {
		for n := range perKind {
			g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(n))), kind: all[name], there: map[string]bool{}}
			[]func(string){g.create, g.apply}[n%2]("a")
			for len(g.out) < perScenario {
				g.step()
			}
			out = append(out, scenario{Name: fmt.Sprintf("%s-%d", all[name].resource, n), Requests: g.out})
		}
	}
	for _, read := range []func() ([]scenario, error){demands, values, named} {
		list, err := read()
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	out = slices.Concat(out, selections(all), descriptions(all), applies(all))
	return append(append(out, collections(seed, all)...), slices.Concat(subresources(all), approvals(all), validations(all["Bolt"]), validations(all["Nut"]), immutables(all))...), nil
}

func (g *generator) add(r request) {
	r.Kind = g.kind
	g.out = append(g.out, r)
}

// step adds one request, or a few that belong together.
func (g *generator) step() {
	name := []string{"a", "b"}[g.IntN(2)]
	steps := []struct {
		weight int
		do     func(name string)
	}{
		{3, g.create}, {6, g.patch}, {7, g.apply}, {3, g.status}, {2, g.deletion}, {2, g.finalizers},
		{2, g.again}, {2, g.stale}, {1, g.generated}, {1, g.strange}, {1, func(n string) { g.add(request{Op: get, Name: n}) }},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	at := g.IntN(total)
	for _, s := range steps {
		if at -= s.weight; at < 0 {
			s.do(name)
			return
		}
	}
}

// pick returns up to n of some fragments.
func (g *generator) pick(from []Object, n int) []Object {
	var out []Object
	for range g.IntN(n + 1) {
		if len(from) > 0 {
			out = append(out, from[g.IntN(len(from))])
		}
	}
	return out
}

func (g *generator) create(name string) {
	g.there[name] = true
	body := g.kind.object(name, append([]Object{g.kind.base}, g.pick(g.kind.fragments, 3)...)...)
	if len(g.kind.statuses) > 0 && g.IntN(3) == 0 {
		merge(body, g.kind.statuses[0])
	}
	if g.IntN(3) == 0 {
		merge(body, Object{"metadata": Object{"finalizers": []any{"example.com/keep"}}})
	}
	g.add(request{Op: create, Name: name, Body: body, Manager: "user"})
}

func (g *generator) patch(name string) {
	body := Object{}
	for _, f := range g.pick(slices.Concat(g.kind.fragments, g.kind.patches), 2) {
		if list, _ := path(f, "spec", "template", "spec").(Object); list["containers"] != nil && g.kind.Kind != "Pod" {
			continue // a merge patch would replace the containers
		}
		if spec, _ := f["spec"].(Object); g.kind.Kind == "Service" && spec["ports"] != nil && len(g.out)%2 == 0 {
			continue
		}
		merge(body, f)
	}
	if g.IntN(4) == 0 && g.there[name] {
		merge(body, Object{"metadata": Object{"resourceVersion": "$rv:" + name}})
	}
	g.add(request{Op: patch, Name: name, Body: body, Manager: []string{"user", "somebody"}[g.IntN(2)]})
}

// apply is by owner, which always applies what an object cannot do without, or
// by other, which adds to what is there.
func (g *generator) apply(name string) {
	r := request{Op: apply, Name: name, Manager: "owner", Force: g.IntN(2) == 0}
	fragments := g.pick(g.kind.fragments, 3)
	if g.there[name] && g.IntN(2) == 0 {
		r.Manager = "other"
	} else {
		fragments = append([]Object{g.kind.base}, fragments...)
	}
	g.there[name] = true
	r.Body = g.kind.object(name, fragments...)
	g.add(r)
}

func (g *generator) status(name string) {
	if len(g.kind.statuses) == 0 {
		return
	}
	r := request{Op: patch, Name: name, Subresource: "status", Manager: "controller", Body: Object{}}
	merge(r.Body, g.kind.statuses[g.IntN(len(g.kind.statuses))])
	switch g.IntN(4) {
	case 0: // what is not the status is left alone
		merge(r.Body, Object{"spec": Object{"replicas": int64(9)}})
	case 1:
		if !g.there[name] {
			return
		}
		r.Op, r.Manager, r.Force = apply, []string{"controller", "reporter"}[g.IntN(2)], g.IntN(2) == 0
		r.Body = g.kind.object(name, r.Body)
	}
	g.add(r)
}

func (g *generator) deletion(name string) {
	r := request{Op: remove, Name: name, Propagation: []string{"", "Background", "Background", "Foreground", "Orphan"}[g.IntN(5)]}
	if g.there[name] {
		switch g.IntN(4) {
		case 0:
			r.UID = "$uid:" + name
		case 1:
			r.ResourceVersion = "$rv:" + name
		case 2:
			r.UID, r.ResourceVersion = "no-such-uid", "$rv:"+name
		}
	}
	if r.Propagation == "Foreground" || r.Propagation == "Orphan" || g.kind.Kind == "Job" {
		r.Propagation = "Background" // what the collector does is left to its own scenarios
	}
	g.there[name] = false
	g.add(r)
}

func (g *generator) finalizers(name string) {
	list := [][]any{{"example.com/keep"}, {"example.com/keep", "example.com/more"}, {}}[g.IntN(3)]
	body := Object{"metadata": Object{"finalizers": list}}
	if len(list) == 0 {
		body = Object{"metadata": Object{"finalizers": nil}}
	}
	g.add(request{Op: patch, Name: name, Body: body, Manager: "user"})
}

// again repeats the last write.
func (g *generator) again(string) {
	for _, r := range slices.Backward(g.out) {
		if r.Op == patch || r.Op == apply && g.there[r.Name] {
			g.out = append(g.out, r)
			return
		}
	}
}

// stale writes on an old version.
func (g *generator) stale(name string) {
	if !g.there[name] || g.kind.restless {
		return
	}
	switch g.IntN(3) {
	case 0:
		g.add(request{Op: patch, Name: name, Manager: "user", Body: Object{"metadata": Object{"resourceVersion": "$rv0:" + name, "labels": Object{"stale": "x"}}}})
	case 1:
		g.there[name] = false
		g.add(request{Op: remove, Name: name, ResourceVersion: "$rv0:" + name, Propagation: "Background"})
	default:
		body := g.kind.object(name, g.kind.base, Object{"metadata": Object{"resourceVersion": "$rv0:" + name, "annotations": Object{"stale": "x"}}})
		g.add(request{Op: apply, Name: name, Manager: "owner", Force: true, Body: body})
	}
}

func (g *generator) generated(string) {
	body := g.kind.object("", g.kind.base)
	body["metadata"] = Object{"generateName": "made-"}
	g.add(request{Op: create, Body: body, Manager: "user"})
}

// strange adds what a server refuses.
func (g *generator) strange(name string) {
	switch g.IntN(6) {
	case 0:
		g.add(request{Op: create, Name: name, Manager: "user", Body: g.kind.object(name, g.kind.base, Object{"metadata": Object{"resourceVersion": "1"}})})
	case 1:
		body := g.kind.object("", g.kind.base)
		body["metadata"] = Object{}
		g.add(request{Op: create, Body: body, Manager: "user"})
	case 2:
		g.add(request{Op: patch, Name: name, Manager: "user", Body: Object{"metadata": Object{"name": "other"}}})
	case 3:
		g.add(request{Op: patch, Name: name, Manager: "user", Body: Object{"metadata": Object{"uid": "other"}}})
	case 4:
		g.add(request{Op: patch, Name: name, Manager: "user", Body: Object{"metadata": Object{"generation": int64(77), "creationTimestamp": nil}}})
	case 5:
		g.add(request{Op: apply, Name: name, Manager: "", Force: true, Body: g.kind.object(name, g.kind.base)})
	}
}

// path returns what stands at a path of fields.
func path(o Object, fields ...string) any {
	var v any = o
	for _, f := range fields {
		m, _ := v.(Object)
		v = m[f]
	}
	return v
}
