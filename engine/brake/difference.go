package brake

import (
	"github.com/edict-dev/edict/engine/eval"
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
	for _, d := range e.Changes() {
		out = append(out, change{path: d.Path, removed: value.IsNull(d.After)})
	}
	return out[:min(len(out), maxChanges)]
}
