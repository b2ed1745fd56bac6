package compile

import (
	"reflect"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

func (b *builder) actions(s *scope, docs []v1alpha1.Action) []plan.Action {
	var out []plan.Action
	for i := range docs {
		if a := b.action(s, &docs[i]); a != nil {
			out = append(out, a)
		}
	}
	return out
}

func (b *builder) action(s *scope, a *v1alpha1.Action) plan.Action {
	s = s.part(analyze.Action, actionName(a), a.Pos)
	if n := fieldsSet(a); n != 1 {
		b.problems.Hintf(a.Pos, "each action of the list is one of labels, annotations, status, condition, patch, apply, create, delete, finalizer, select, remember, event, log, fail",
			"an action must say exactly one thing to do, this says %d", n)
		return nil
	}
	if a.Apply == nil && (len(a.Once) > 0 || a.IfExists.Set()) {
		b.problems.Hintf(a.Pos, "apply: {...}, and once or ifExists beside it", "only apply takes once and ifExists")
		return nil
	}
	switch {
	case a.Labels != nil:
		return b.mapAction(s, a.Labels, "labels")
	case a.Annotations != nil:
		return b.mapAction(s, a.Annotations, "annotations")
	case a.Status != nil:
		return b.status(s, a)
	case a.Condition != nil:
		return b.condition(s, a.Condition)
	case a.Patch != nil:
		return b.patch(s, a.Patch)
	case a.Event != nil:
		return b.event(s, a.Event)
	case a.Log != nil:
		return &plan.Log{Pos: a.Log.Pos, Level: a.Log.Level.Value, Message: b.template(s, a.Log.Message)}
	case a.Fail != nil:
		return &plan.Fail{Pos: a.Pos, Message: b.template(s, *a.Fail)}
	default:
		return b.largerAction(s, a)
	}
}

// largerAction is an action about more than some fields of an object.
func (b *builder) largerAction(s *scope, a *v1alpha1.Action) plan.Action {
	switch {
	case a.Select != nil:
		return b.selection(s, a.Select)
	case a.Apply != nil:
		return b.applied(s, a)
	case a.Create != nil:
		return b.made(s, *a.Create, a.Pos)
	case a.Delete != nil:
		return b.deletion(s, a.Delete)
	case a.Finalizer != nil:
		return b.finalizer(s, a.Finalizer)
	default:
		return b.remember(s, a.Remember)
	}
}

// actionName returns which action an entry of a list is, for people.
func actionName(a *v1alpha1.Action) string {
	v := reflect.ValueOf(*a)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() || f.Kind() == reflect.Slice && f.Len() > 0 {
			return strings.ToLower(v.Type().Field(i).Name)
		}
	}
	return ""
}

func fieldsSet(a *v1alpha1.Action) int {
	n := 0
	v := reflect.ValueOf(*a)
	for i := range v.NumField() {
		if v.Type().Field(i).Name == "Once" { // says how, not what
			continue
		}
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() || f.Kind() == reflect.Slice && f.Len() > 0 {
			n++
		}
	}
	return n
}

// mapping makes one template node of the entries of a mapping.
func mapping(entries []v1alpha1.Entry[v1alpha1.Template], at document.Position) *document.Node {
	n := &document.Node{Kind: document.Map, Pos: at}
	for _, e := range entries {
		n.Keys = append(n.Keys, e.Key.Node)
		n.Values = append(n.Values, e.Value.Node)
	}
	return n
}

func (b *builder) mapAction(s *scope, a *v1alpha1.MapAction, field string) plan.Action {
	target := b.target(s, a.Of, a.Pos)
	if target == nil {
		return nil
	}
	if len(a.Set) == 0 {
		b.problems.Hintf(a.Pos, "set: {key: value}, null removes", "%s sets nothing", field)
		return nil
	}
	fields := b.templateNode(s, mapping(a.Set, a.Pos))
	fields.Fit(&schema.Type{Kind: schema.Map, Elem: &schema.Type{Kind: schema.String}}, field, b.problems)
	b.protected(target, []string{"metadata", field}, a.Pos)
	b.metadataNames(a.Set, fields, field)
	return b.merge(s.node, target, &plan.Merge{Pos: a.Pos, Under: []string{"metadata", field}, Fields: fields})
}

func (b *builder) status(s *scope, a *v1alpha1.Action) plan.Action {
	target := b.target(s, nil, a.Pos)
	if target == nil {
		return nil
	}
	fields := b.templateNode(s, mapping(a.Status, a.Pos))
	fields.Fit(target.kind.Field("status"), "status", b.problems)
	return b.merge(s.node, target, &plan.Merge{Pos: a.Pos, Subresource: "status", Under: []string{"status"}, Fields: fields})
}

// merge completes an action that merges fields, recording what it reads (a
// write is a diff against what is there) and what it writes.
func (b *builder) merge(n *analyze.Node, target *target, m *plan.Merge) plan.Action {
	m.Of = target.ref
	mask := m.Fields.Mask()
	for _, name := range slices.Backward(m.Under) {
		mask = &value.Mask{Fields: map[string]*value.Mask{name: mask}}
	}
	target.read(n, mask)
	target.write(b, n, m.Subresource, analyze.WritePatch)
	return m
}

func (b *builder) condition(s *scope, a *v1alpha1.ConditionAction) plan.Action {
	target := b.target(s, a.Of, a.Pos)
	if target == nil {
		return nil
	}
	if !a.Type.Set() || !a.Absent && !a.Status.Set() {
		b.problems.Hintf(a.Pos, "condition: {type, status, reason, message} or {type, absent: true}", "a condition needs type and status")
		return nil
	}
	c := &plan.Condition{
		Pos: a.Pos, Of: target.ref, Absent: a.Absent, Track: a.ObservedGeneration.Value != "keep",
		Type: b.template(s, a.Type), Status: b.template(s, a.Status),
		Reason: b.template(s, a.Reason), Message: b.template(s, a.Message),
	}
	switch a.ObservedGeneration.Value {
	case "", "track", "keep":
	default:
		b.problems.Hintf(a.ObservedGeneration.Pos(), "track or keep", "unknown observedGeneration %q", a.ObservedGeneration.Value)
	}
	fitCondition(c, b.problems)
	b.conditionNames(a, c.Type, c.Reason)
	mask := &value.Mask{Fields: map[string]*value.Mask{"status": {Fields: map[string]*value.Mask{"conditions": value.KeepAll}}}}
	if c.Track && !c.Absent {
		mask.Fields["metadata"] = &value.Mask{Fields: map[string]*value.Mask{"generation": {}}}
	}
	if status := target.kind.Field("status"); status == nil || status.Field("conditions") == nil {
		b.problems.Errorf(a.Pos, "the kind has no status.conditions")
	}
	target.read(s.node, mask)
	target.write(b, s.node, "status", analyze.WritePatch)
	return c
}

func fitCondition(c *plan.Condition, problems *document.Problems) {
	text := &schema.Type{Kind: schema.String}
	for name, t := range map[string]*cel.Template{"type": c.Type, "reason": c.Reason, "message": c.Message} {
		if t != nil {
			t.Fit(text, "condition."+name, problems)
		}
	}
	if c.Status != nil {
		c.Status.Fit(&schema.Type{Kind: schema.String, Enum: []string{"True", "False", "Unknown"}}, "condition.status", problems)
	}
}

func (b *builder) patch(s *scope, a *v1alpha1.PatchAction) plan.Action {
	target := b.target(s, a.Of, a.Pos)
	if target == nil {
		return nil
	}
	if a.Create && target.ref.Kind == "" {
		b.problems.Hintf(a.Pos, "of: {apiVersion, kind, namespace, name}", "create needs an object that is named")
	}
	if sub := a.Subresource.Value; sub != "" && sub != "status" {
		b.problems.Hintf(a.Subresource.Pos(), "subresource: status, or none", "the subresource %q cannot be written", sub)
		return nil
	}
	if a.Lock.Set() && (a.Lock.Value != "none" || a.List.Set()) {
		b.problems.Hintf(a.Lock.Pos(), "lock: none with value, or no lock", "lock cannot be %q here", a.Lock.Value)
		return nil
	}
	if a.List.Set() {
		return b.listEntry(s, a, target)
	}
	if !a.Value.Set() || a.Value.Node.Kind != document.Map {
		b.problems.Hintf(a.Pos, "patch: {of: ..., value: {spec: {field: value}}}", "a patch needs a value that is a mapping")
		return nil
	}
	fields := b.template(s, a.Value)
	fields.Fit(target.kind, "value", b.problems)
	for _, path := range fields.Paths() {
		b.protected(target, path, a.Pos)
		if sub := a.Subresource.Value; len(path) > 0 && (sub == "status") != (path[0] == "status") {
			b.problems.Hintf(a.Pos, "status is written with subresource: status, everything else without", "the patch of %q writes %s", sub, strings.Join(path, "."))
		}
	}
	b.creates(s.node, target, a.Create)
	b.metadata(s.node, target, a.Value.Node, fields)
	b.grants(s.node, target, a.Value.Node, fields, false)
	return b.merge(s.node, target, &plan.Merge{Pos: a.Pos, Subresource: a.Subresource.Value, Fields: fields, Create: a.Create, Unlocked: a.Lock.Set()})
}

func (b *builder) event(s *scope, a *v1alpha1.EventAction) plan.Action {
	target := b.target(s, a.Of, a.Pos)
	if target == nil {
		return nil
	}
	if a.Type.Set() && a.Type.Value != "Normal" && a.Type.Value != "Warning" {
		b.problems.Hintf(a.Type.Pos(), "Normal or Warning", "unknown event type %q", a.Type.Value)
	}
	if !a.Reason.Set() || !a.Message.Set() {
		b.problems.Errorf(a.Pos, "an event needs reason and message")
		return nil
	}
	target.read(s.node, &value.Mask{})
	target.event(b, s.node)
	return &plan.Event{
		Pos: a.Pos, Of: target.ref, Warning: a.Type.Value == "Warning",
		Reason: b.template(s, a.Reason), Message: b.template(s, a.Message),
	}
}
