package brake

import (
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// Removes reports whether an effect is a removal: it deletes an object, removes
// a field that the object had, takes a finalizer or an owner reference off it,
// or empties a list.
func Removes(e *eval.Effect) bool {
	switch e.Verb {
	case eval.VerbDelete, eval.VerbEvict:
		return true
	case eval.VerbPatch:
		return takes(e.Patch, e.Before, nil, false)
	default:
		return false
	}
}

// Shrinks reports whether an effect is a removal, or makes a list shorter. Such
// a write is not to be based on what may be out of date.
func Shrinks(e *eval.Effect) bool {
	return Removes(e) || e.Verb == eval.VerbPatch && takes(e.Patch, e.Before, nil, true)
}

// takes reports whether a merge patch takes something away from an object; any
// counts each list that gets shorter.
func takes(patch, before *value.Map, path []string, anyList bool) bool {
	if patch == nil || before == nil {
		return false
	}
	for i := range patch.Len() {
		key, now := patch.At(i)
		was := before.Lookup(key)
		if was == nil || value.IsNull(was) {
			continue
		}
		if taken(now, was, append(path[:len(path):len(path)], key), anyList) {
			return true
		}
	}
	return false
}

func taken(now, was value.Value, path []string, anyList bool) bool {
	switch now := now.(type) {
	case *value.Map:
		before, _ := was.(*value.Map)
		return takes(now, before, path, anyList)
	case *value.List:
		before, ok := was.(*value.List)
		if !ok || before.Len() == 0 {
			return false
		}
		return now.Len() == 0 || anyList && now.Len() < before.Len() || holds(path) && loses(before, now)
	default:
		return value.IsNull(now)
	}
}

// holds reports whether a list keeps an object from being deleted.
func holds(path []string) bool {
	return len(path) == 2 && path[0] == "metadata" && (path[1] == "finalizers" || path[1] == "ownerReferences")
}

func loses(before, now *value.List) bool {
	return slices.ContainsFunc(before.Items(), func(was value.Value) bool {
		return !slices.ContainsFunc(now.Items(), func(v value.Value) bool { return value.Same(was, v) })
	})
}
