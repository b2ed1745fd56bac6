package conditions

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

var now = value.OfTime(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))

func frozen(fields map[string]any) value.Value { return value.Freeze(fields, nil, value.KeepAll) }

func TestSet(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	const before, at = "2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z"
	ready := fields{"type": "Ready", "status": "True", "reason": "A", "lastTransitionTime": before}
	failed := fields{"type": "Failed", "status": "False"}
	for name, tc := range map[string]struct {
		list  value.Value
		given fields
		want  []any
	}{
		"the same status":       {status(failed, ready), fields{"type": "Ready", "status": "True", "reason": "B"}, []any{failed, fields{"type": "Ready", "status": "True", "reason": "B", "lastTransitionTime": before}}},
		"another status":        {status(ready, failed), fields{"type": "Ready", "status": "False"}, []any{fields{"type": "Ready", "status": "False", "lastTransitionTime": at}, failed}},
		"a new one":             {status(failed), fields{"type": "Ready", "status": "True"}, []any{failed, fields{"type": "Ready", "status": "True", "lastTransitionTime": at}}},
		"no time before":        {status(failed), failed, []any{fields{"type": "Failed", "status": "False", "lastTransitionTime": at}}},
		"a time of its own":     {status(failed), fields{"type": "Ready", "status": "True", "lastTransitionTime": before}, []any{failed, fields{"type": "Ready", "status": "True", "lastTransitionTime": before}}},
		"no list":               {value.None, fields{"type": "Ready", "status": "True"}, []any{fields{"type": "Ready", "status": "True", "lastTransitionTime": at}}},
		"an optional list":      {value.Some(status(ready)), ready, []any{ready}},
		"the first of the type": {status(ready, ready), ready, []any{ready, ready}},
		"items that are none":   {status("x", nil), failed, []any{"x", nil, fields{"type": "Failed", "status": "False", "lastTransitionTime": at}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := set(nil, []value.Value{tc.list, frozen(tc.given), now})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, value.Plain(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestSetWithoutType: a condition without a type would be added at each evaluation.
func TestSetWithoutType(t *testing.T) {
	t.Parallel()
	for _, given := range []map[string]any{{"status": "True"}, {"type": ""}, {"type": int64(1)}} {
		if _, err := set(nil, []value.Value{value.None, frozen(given), now}); err == nil || !strings.Contains(err.Error(), "takes a condition with a type") {
			t.Errorf("%v: %v", given, err)
		}
	}
}
