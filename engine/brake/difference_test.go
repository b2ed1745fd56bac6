package brake

import (
	"testing"

	"github.com/edict-dev/edict/engine/schema"
)

// TestChangesOfTypes: what the API server makes of a quantity is no change, and a text that
// looks like one is.
func TestChangesOfTypes(t *testing.T) {
	t.Parallel()
	typed := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{"cpu": {Kind: schema.Dyn, Quantity: true}, "version": {Kind: schema.String}}}
	for name, tc := range map[string]struct {
		before, after object
		want          int
	}{
		"a quantity in another form": {object{"cpu": "500m"}, object{"cpu": "0.5"}, 0},
		"another quantity":           {object{"cpu": "500m"}, object{"cpu": "1"}, 1},
		"a text":                     {object{"version": "1.10"}, object{"version": "1.1"}, 1},
		"what is removed":            {object{"cpu": "500m"}, object{"cpu": nil}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := patch(tc.before, tc.after)
			e.Type = typed
			if got := changes(e); len(got) != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
