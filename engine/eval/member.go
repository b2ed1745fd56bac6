package eval

import (
	"cmp"
	"context"
	"sync"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Side answers questions about the joins of one key, for the routing of
// events. It computes without a memory.
type Side struct{ ev *evaluation }

// NewSide looks at a key with its primary as given; nil means that there is
// none. Close must be called at the end.
func NewSide(ctx context.Context, p *plan.Policy, key Key, object *world.Object) *Side {
	s := sides.Get().(*Side)
	s.ev.in, s.ev.object, s.ev.meter = Input{Policy: p, Key: key}, object, expr.NewMeter(ctx)
	return s
}

// sides are those that were closed: a change may ask many keys.
var sides = sync.Pool{New: func() any {
	ev := &evaluation{decision: &Decision{}}
	ev.reader = &plainReader{ev: ev}
	return &Side{ev: ev}
}}

// Close frees what the questions needed. The side must not be used afterwards.
func (s *Side) Close() {
	s.ev.meter.Close()
	*s.ev.decision = Decision{}
	s.ev.in, s.ev.object, s.ev.meter = Input{}, nil, nil
	sides.Put(s)
}

// Membership says whether an object is a member of an input.
type Membership int8

// What an object may be to an input.
const (
	NotMember Membership = iota
	Member
	// AtTimes is that it depends on the time, or on what is remembered, or cannot be found
	// out now: what it was when the key was decided about last cannot be told.
	AtTimes
)

// Member reports whether an object is a member of an input, and under which key.
func (s *Side) Member(in *plan.Input, o *world.Object) (key string, is Membership) {
	if o == nil {
		return "", NotMember
	}
	s.ev.meter.Grow(1)
	s.ev.asked, s.ev.passed = false, nil
	f := &frame{ev: s.ev}
	m := search{ev: s.ev, in: in}.judge(o, f)
	switch {
	case s.ev.asked, s.ev.passed != nil:
		m = search{ev: s.ev}.consider(o, f)
		if !(search{ev: s.ev, in: in}).locate(m, f) && s.ev.passed == nil {
			return "", NotMember
		}
		return m.key, AtTimes
	case m == nil:
		return "", NotMember
	}
	return m.key, Member
}

// Probes returns the index keys under which the key finds its members; atTimes says
// that it has others at other times.
func (s *Side) Probes(in *plan.Input) (keys []string, atTimes bool) {
	s.ev.asked, s.ev.passed = false, nil
	keys = s.keys(in)
	return keys, s.ev.asked || s.ev.passed != nil
}

func (s *Side) keys(in *plan.Input) []string {
	if in.Shape == plan.One {
		return s.names(in)
	}
	if in.Join.Probe == nil {
		return nil
	}
	return search{ev: s.ev, in: in}.probes()
}

// names returns the names under which an input of one object may be found.
func (s *Side) names(in *plan.Input) []string {
	v, err := in.Get.Eval(&frame{ev: s.ev}, s.ev.meter)
	if err != nil {
		return nil
	}
	switch name := value.Unwrap(v).(type) {
	case *value.Map:
		return []string{TargetKey(value.StringAt(name, "namespace"), value.StringAt(name, "name"))}
	default:
		text, _ := value.Str(name)
		if text == "" {
			return nil
		}
		return []string{TargetKey("", text), TargetKey(s.ev.in.Key.Namespace, text)}
	}
}

// ItemKeys returns the index keys of an object, under which Probes finds it.
func (s *Side) ItemKeys(in *plan.Input, o *world.Object) []string {
	switch {
	case o == nil:
		return nil
	case in.Shape == plan.One:
		return []string{TargetKey(o.Namespace, o.Name)}
	case in.Join.Item == nil:
		return nil
	}
	return IndexKeys(s.ev.in.Policy, in, o, s.ev.meter)
}

// Named returns the keys that an object names, for a policy whose primaries are
// optional.
func (s *Side) Named(in *plan.Input, o *world.Object) (out []Key) {
	switch {
	case o == nil:
		return nil
	case in.Naming.Join != nil:
		f := &frame{ev: s.ev}
		f.push("item", o.Value)
		for _, n := range in.Naming.Join.Names(f, s.ev.meter) {
			key := named(in, o, n)
			if _, err := world.Identify(s.ev.in.Policy.Primary.GVK, key.Namespace, key.Name); err == nil && in.Near(key.Namespace, o) {
				out = append(out, key)
			}
		}
		return out
	case in.Naming.Own:
		return []Key{{Namespace: o.Namespace, Name: o.Name}}
	default:
		return []Key{{Name: o.Name}}
	}
}

// named is a key that an object names.
func named(in *plan.Input, o *world.Object, by analyze.Name) Key {
	switch {
	case in.Naming.Cluster:
		return Key{Name: by.Name}
	case in.Naming.Own:
		return Key{Namespace: cmp.Or(by.Namespace, o.Namespace), Name: by.Name}
	default:
		return Key{Namespace: cmp.Or(by.Namespace, in.Naming.Within), Name: by.Name}
	}
}
