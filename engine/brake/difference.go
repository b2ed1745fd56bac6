package brake

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// change is a field that an effect changes.
type change struct {
	path    string
	removed bool
}

// maxChanges bounds the fields of one effect that are looked at.
const maxChanges = 256

// changes returns the fields that an effect changes. That an object is made or
// deleted is a change of the field "".
func changes(e *eval.Effect) []change {
	switch {
	case e.Verb == eval.VerbEvent:
		return nil
	case e.Verb == eval.VerbDelete, e.Verb == eval.VerbEvict:
		return []change{{removed: true}}
	case e.Before == nil || e.Verb == eval.VerbCreate:
		return []change{{}}
	}
	var out []change
	for _, d := range differ.Diff(e.Before, e.Before.Merged(e.Patch), e.Type) {
		out = append(out, change{path: d.Path, removed: value.IsNull(d.After)})
	}
	return out[:min(len(out), maxChanges)]
}

// differ finds what a patch changes. A map, or a list of named items, that comes or goes as a
// whole counts as its parts: a field has the same path when it is the only one.
var differ = value.Differ{Maps: true, Lists: true, Same: func(was, now value.Value, t *schema.Type) bool {
	return t != nil && eval.Stored(was, now, t)
}}
