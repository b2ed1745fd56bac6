package eval

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// failures are the errors of the children whose template has failed or whose last write was
// refused, by the name of their set and by their key in it. Only the rules below see them.
type failures struct{ of *value.Map }

// value returns the failures; it is the same map until there is another one.
func (x failures) value() *value.Map {
	if x.of == nil {
		return value.Empty
	}
	return x.of
}

// noteChild notes that the item of a rule has failed, if the rule makes children and the key
// of the child is known.
func (r *ruleRun) noteChild(f *frame, err error) {
	child := r.child()
	if child == nil {
		return
	}
	if key, ok := r.childKey(child, f); ok {
		r.ev.failures.of = value.Overwrite(r.ev.failures.value(), value.OfString(expr.Message(err)), r.rule.Child, key)
		r.ev.reader.changed()
	}
}

// child returns the action that makes a child; nil if the rule makes none.
func (r *ruleRun) child() *plan.Child {
	list := r.rule.Do
	if len(r.rule.Cases) > 0 {
		list = r.rule.Cases[0].Do
	}
	if r.rule.Child == "" || len(list) == 0 {
		return nil
	}
	child, _ := list[0].(*plan.Child)
	return child
}

// childKey returns the key of a child in its set, from its name and namespace alone.
func (r *ruleRun) childKey(child *plan.Child, f *frame) (string, bool) {
	metadata := child.Manifest.Field("metadata")
	name, err := r.ev.text(metadata.Field("name"), f)
	if err != nil {
		return "", false
	}
	namespace, err := r.ev.text(metadata.Field("namespace"), f)
	slot, ok := r.ev.in.Policy.Slots.Of(analyze.ChildRef(r.rule.Child).String())
	if err != nil || !ok {
		return "", false
	}
	item := r.ev.frame()
	item.push("item", value.Empty.With("metadata", value.FromMap(map[string]value.Value{"name": value.OfString(name), "namespace": value.OfString(namespace)})))
	v, err := r.ev.in.Policy.Inputs[slot.Index].Key.Eval(item, r.ev.meter)
	if err != nil {
		return "", false
	}
	return value.Str(v)
}
