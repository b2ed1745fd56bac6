package verify

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/simulate"
)

// difference is an object that two worlds do not have alike.
type difference struct {
	id simulate.Identity
	// want is what of the object is otherwise: a part of a manifest, with null for what
	// is not there; nil is the object as a whole, which is not there.
	want simulate.Object
	// got is the same of the other world.
	got simulate.Object
}

func (d difference) String() string {
	switch {
	case d.want == nil:
		return named(d.id) + " is there, and else is not"
	case d.got == nil:
		return named(d.id) + " is not there, and else is"
	}
	return fmt.Sprintf("%s differs\nit has\n%sand else\n%s", named(d.id), indented(d.got), indented(d.want))
}

// indented returns a part of a manifest in YAML.
func indented(o simulate.Object) string {
	text, err := document.YAML(o)
	if err != nil {
		return err.Error() + "\n"
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ") + "\n"
}

// differences returns what a world has otherwise than another one, without times and
// what only counts.
func differences(usual, other []simulate.Object) (out []difference) {
	byID := map[simulate.Identity]simulate.Object{}
	for _, o := range other {
		byID[simulate.ID(o)] = o
	}
	for _, o := range usual {
		id := simulate.ID(o)
		got, ok := byID[id]
		delete(byID, id)
		if !ok {
			out = append(out, difference{id: id, want: simulate.Object{}})
		} else if want, has := fields(o, got); len(want) > 0 {
			out = append(out, difference{id: id, want: want, got: has})
		}
	}
	for id, o := range byID {
		out = append(out, difference{id: id, got: o})
	}
	slices.SortFunc(out, func(a, b difference) int { return strings.Compare(named(a.id), named(b.id)) })
	return out
}

// fields returns the fields of two objects that differ.
func fields(a, b simulate.Object) (want, got simulate.Object) {
	want, got = simulate.Object{}, simulate.Object{}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for name := range names {
		x, y := a[name], b[name]
		if slices.Contains(uncounted, name) || name == "observedGeneration" || text(x) == text(y) {
			continue
		}
		inner, ok := x.(simulate.Object)
		other, also := y.(simulate.Object)
		if ok && also {
			want[name], got[name] = fields(inner, other)
		} else {
			want[name], got[name] = x, y
		}
	}
	return want, got
}

// text returns a value as text, in which all times are alike.
func text(v any) string {
	if empty(v) {
		return ""
	}
	var b bytes.Buffer
	(&writer{b: &b}).value(v)
	return b.String()
}

// expectation returns the differences as what a test expects, beside that nothing fails.
func expectation(found []difference) map[string]any {
	out := map[string]any{"errors": []any{}}
	var objects, absent []any
	for _, d := range found {
		if d.want == nil {
			absent = append(absent, reference(d.id))
			continue
		}
		o := maps.Clone(d.want)
		meta, _ := o["metadata"].(simulate.Object)
		meta = maps.Clone(meta)
		if meta == nil {
			meta = simulate.Object{}
		}
		meta["name"] = d.id.Name()
		if d.id.Namespace() != "" {
			meta["namespace"] = d.id.Namespace()
		}
		o["apiVersion"], o["kind"], o["metadata"] = d.id.APIVersion(), d.id.Kind(), meta
		objects = append(objects, o)
	}
	if objects != nil {
		out["objects"] = objects
	}
	if absent != nil {
		out["absent"] = absent
	}
	return out
}
