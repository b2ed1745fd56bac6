package policytest

import (
	"math"
	"slices"
	"time"
)

// shape reduces what is there to what is asked for: fields that are not asked
// for are left out, conditions are found by their type where that is of one entry.
func shape(want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		return shapeMap(w, got)
	case []any:
		return shapeList(w, got)
	default:
		return got
	}
}

func shapeMap(want map[string]any, got any) any {
	g, ok := got.(map[string]any)
	if !ok {
		if got == nil && onlyAbsent(want) {
			return want
		}
		return got
	}
	out := map[string]any{}
	for k, v := range want {
		out[k] = shape(v, g[k])
	}
	return out
}

func shapeList(want []any, got any) any {
	g, ok := got.([]any)
	if byType(want) && (byType(g) && oneOfEach(want, g) || (ok || got == nil) && len(g) == 0 && noneLeft(want)) {
		return shapeByType(want, g)
	}
	if !ok || len(want) != len(g) {
		return got
	}
	out := make([]any, len(want))
	for i := range want {
		out[i] = shape(want[i], g[i])
	}
	return out
}

// onlyAbsent reports whether a mapping asks only that fields are absent, at any depth. An
// empty one asks that there is an object.
func onlyAbsent(want map[string]any) bool {
	for _, v := range want {
		if !absent(v) {
			return false
		}
	}
	return len(want) > 0
}

// absent reports whether what is asked of a field is that nothing is there.
func absent(want any) bool {
	switch w := want.(type) {
	case map[string]any:
		return onlyAbsent(w)
	case []any:
		return byType(w) && noneLeft(w)
	}
	return want == nil
}

func byType(list []any) bool {
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok || m["type"] == nil {
			return false
		}
	}
	return len(list) > 0
}

// oneOfEach reports whether no type that is wanted is that of several entries of a list.
// Such entries are paired by their places.
func oneOfEach(want, got []any) bool {
	return !slices.ContainsFunc(want, func(w any) bool {
		other := func(item any) bool { return field(item, "type") != field(w, "type") }
		return len(slices.DeleteFunc(slices.Clone(want), other)) > 1 || len(slices.DeleteFunc(slices.Clone(got), other)) > 1
	})
}

func shapeByType(want, got []any) []any {
	out := make([]any, 0, len(want))
	for _, w := range want {
		m, found := w.(map[string]any), false
		for _, g := range got {
			if g.(map[string]any)["type"] == m["type"] {
				out, found = append(out, shape(w, g)), true
			}
		}
		if !found && none(m) {
			out = append(out, w)
		}
	}
	return out
}

// none reports whether an entry asks that there is none of its type: all else is null.
func none(entry map[string]any) bool {
	for field, v := range entry {
		if field != "type" && v != nil {
			return false
		}
	}
	return len(entry) > 1
}

// noneLeft reports whether all entries ask that there is none of their type.
func noneLeft(want []any) bool {
	return !slices.ContainsFunc(want, func(w any) bool { return !none(w.(map[string]any)) })
}

// normal makes values comparable: whole numbers as int64, instants of one form.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = normal(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = normal(x)
		}
		return out
	case float64:
		if whole := int64(v); float64(whole) == v && math.Abs(v) < 1<<63 {
			return whole
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return v
}
