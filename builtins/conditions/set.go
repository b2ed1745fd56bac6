package conditions

import (
	"errors"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// setFunction is conditions.set. It is given the time by name, so that it is the name now
// that makes an expression depend on the time.
func setFunction() expr.Function {
	return expr.Function{
		Name: "conditions.set", Args: []expr.Type{expr.MaybeOf(expr.ListOf(expr.Element)), expr.MapOf(expr.Dyn), expr.Timestamp}, Result: expr.ListOf(expr.Element),
		Doc:     "the list with a condition in the place of that of its type, or at its end; its lastTransitionTime is the one before if its status is the same, else the time given",
		Example: `conditions.set(item.?conditions, {"type": "Ready", "status": "True"}, object.metadata.creationTimestamp)`,
		Reject:  reject, StandIns: []value.Value{value.None, nil, value.OfTime(time.Unix(0, 0))},
		Needs: func(args []value.Value) expr.Need {
			out := need([]value.Value{args[0], fieldOf(args[1], fieldType)})
			out.Bytes = expr.Times(length(args[0])+1, 16) + 256
			out.Scratch = out.Bytes
			return out
		},
		Do: set,
	}
}

func length(list value.Value) int {
	if items, ok := value.Unwrap(list).(*value.List); ok {
		return items.Len()
	}
	return 0
}

// fieldOf returns a field of a condition, the empty text for none.
func fieldOf(v value.Value, name string) value.Value {
	if c, ok := v.(*value.Map); ok {
		if field := c.Lookup(name); field != nil {
			return field
		}
	}
	return value.OfString("")
}

func set(_ *expr.Call, args []value.Value) (value.Value, error) {
	given, ok := args[1].(*value.Map)
	if kind, isText := value.Str(fieldOf(args[1], fieldType)); !ok || !isText || kind == "" {
		return nil, errors.New("conditions.set takes a condition with a type, such as {\"type\": \"Ready\", \"status\": \"True\"}")
	}
	was := condition([]value.Value{args[0], fieldOf(given, fieldType)})
	next := dated(given, was, args[2])
	list, _ := value.Unwrap(args[0]).(*value.List)
	if list == nil {
		return value.NewList([]value.Value{next}), nil
	}
	items := slices.Clone(list.Items())
	if at := slices.IndexFunc(items, func(item value.Value) bool { return was != nil && item == value.Value(was) }); at >= 0 {
		items[at] = next
		return value.NewList(items), nil
	}
	return value.NewList(append(items, next)), nil
}

// dated returns a condition with the time since which it has its status.
func dated(given, was *value.Map, now value.Value) *value.Map {
	since := now
	if own := given.Lookup(fieldSince); own != nil {
		since = own
	}
	status, _ := value.Str(fieldOf(given, fieldStatus))
	if before, _ := value.Str(fieldOf(was, fieldStatus)); was != nil && before == status && was.Lookup(fieldSince) != nil {
		since = was.Lookup(fieldSince)
	}
	entries := make(map[string]value.Value, given.Len()+1)
	for i := range given.Len() {
		name, v := given.At(i)
		entries[name] = v
	}
	entries[fieldSince] = since
	return value.FromMap(entries)
}
