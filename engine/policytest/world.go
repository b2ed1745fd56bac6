package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// misspelt returns the fields of a test's objects that their kinds do not have.
// On an API server they would be dropped, so a test that relies on one shows
// nothing.
func misspelt(objects []simulate.Object, schemas *schema.Set) error {
	for _, o := range objects {
		id := simulate.ID(o)
		t, known := schemas.Kind(id.GVK)
		if !known {
			continue
		}
		if where, hint := unknownField(t, o, ""); where != "" {
			return fmt.Errorf("the world's %s %s has %s, which the kind has not%s", id.Kind, id.Name, where, hint)
		}
	}
	return nil
}

// unknownField finds the first field, in their order, that a type does not have.
func unknownField(t *schema.Type, v any, path string) (where, hint string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			field := t.Field(name)
			if field == nil {
				if hint = document.DidYouMean(name, t.FieldNames()); hint != "" {
					hint = "; " + hint
				}
				return at, hint
			}
			if where, hint = unknownField(field, v[name], at); where != "" {
				return where, hint
			}
		}
	case []any:
		for _, item := range v {
			if where, hint = unknownField(t.Item(), item, path+"[]"); where != "" {
				return where, hint
			}
		}
	}
	return "", ""
}
