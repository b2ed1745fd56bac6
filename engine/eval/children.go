package eval

import (
	"errors"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// child makes an object, or keeps what the policy says of it.
func (x acting) child(a *plan.Child, f *frame) error {
	v, err := x.run.ev.build(a.Manifest, f)
	if err != nil {
		return err
	}
	manifest, ok := v.(*value.Map)
	id, err := world.Identify(a.GVK, value.StringAt(v, "metadata", "namespace"), value.StringAt(v, "metadata", "name"))
	if !ok || err != nil {
		return &expr.Failure{At: a.Pos, Err: err}
	}
	manifest, _ = withoutNulls(withoutServerMetadata(manifest), a.Type).(*value.Map)
	if err := bodyFits(a, manifest); err != nil {
		return err
	}
	x.run.ev.reader.named(a.Target, TargetKey(id.Namespace(), id.Name()))
	t, err := writing(x).find(id)
	missing := errors.Is(err, errNoTarget)
	switch {
	case err != nil && !missing:
		return &expr.Failure{At: a.Pos, Err: err}
	case a.Apply:
		return applying{run: x.run, a: a, t: t, manifest: manifest}.apply(missing)
	case missing:
		writing(x).create(id, manifest, false, false)
		return nil
	}
	return applying{run: x.run, a: a, t: t, manifest: manifest}.checkExisting()
}

// withoutServerMetadata returns a manifest without the metadata that the API server sets,
// which a copied object may have.
func withoutServerMetadata(manifest *value.Map) *value.Map {
	for _, name := range plan.ServerMetadata {
		if m, ok := manifest.Lookup("metadata").(*value.Map); ok && m.Lookup(name) != nil {
			manifest = value.Overwrite(manifest, nil, "metadata", name)
		}
	}
	return manifest
}

// withoutNulls returns a map or a list without the null fields that its type does not know as
// values: an API server refuses them, or stores an empty text in their place.
func withoutNulls(v value.Value, t *schema.Type) value.Value {
	switch v := v.(type) {
	case *value.Map:
		for i := v.Len() - 1; i >= 0; i-- {
			name, field := v.At(i)
			if value.IsNull(field) {
				if !t.Nullable(name) {
					v = v.With(name, nil)
				}
				continue
			}
			if next := withoutNulls(field, t.Field(name)); !identical(next, field) {
				v = v.With(name, next)
			}
		}
		return v
	case *value.List:
		items := v.Items()
		for i := range v.Len() {
			if next := withoutNulls(v.At(i), t.Item()); !identical(next, v.At(i)) {
				items = slices.Concat(items[:i], []value.Value{next}, items[i+1:])
			}
		}
		if !slices.EqualFunc(items, v.Items(), identical) {
			return value.NewList(items)
		}
	}
	return v
}

// deletion deletes an object. The effect shows what is not the default. The rules below see it as one that is going.
func (x acting) deletion(a *plan.Delete, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil || value.Path(t.value, "metadata", "deletionTimestamp") != nil {
		return err
	}
	e := &Effect{Verb: VerbDelete, Target: t.id, Patch: value.Empty, Before: t.value, Propagation: a.Propagation, Unlocked: a.Changed}
	if e.GracePeriod, err = x.gracePeriod(a.GracePeriod, f); err != nil {
		return err
	}
	if a.Propagation != plan.Background {
		e.Patch = e.Patch.With("propagation", value.OfString(a.Propagation))
	}
	if e.GracePeriod != nil {
		e.Patch = e.Patch.With("gracePeriodSeconds", value.OfInt(*e.GracePeriod))
	}
	writing(x).emit(e)
	writing(x).going(t)
	return nil
}

// gracePeriod returns the grace period of a deletion in seconds; nil is that of
// the kind.
func (x acting) gracePeriod(t *cel.Template, f *frame) (*int64, error) {
	if t == nil {
		return nil, nil
	}
	text, err := x.run.ev.text(t, f)
	if err != nil || text == "" {
		return nil, err
	}
	seconds, err := plan.GraceSeconds(text)
	if err != nil {
		return nil, &expr.Failure{At: t.Pos(), Err: err}
	}
	return &seconds, nil
}

// finalizer keeps a finalizer on an object or off it. An object that is going
// takes no new one.
func (x acting) finalizer(a *plan.Finalizer, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	name, err := x.run.ev.text(a.Name, f)
	if err != nil {
		return err
	}
	names := value.Strings(value.Path(t.value, "metadata", "finalizers"))
	at := slices.Index(names, name)
	switch going := value.Path(t.value, "metadata", "deletionTimestamp") != nil; {
	case a.Absent && at >= 0:
		names = slices.Delete(names, at, at+1)
	case !a.Absent && at < 0 && !going:
		names = append(names, name)
	default:
		return nil
	}
	writing(x).write(t, "", nest([]string{"metadata", "finalizers"}, value.OfStrings(names)))
	return nil
}
