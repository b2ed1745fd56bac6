package status

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

var (
	before = "2026-03-01T11:00:00Z"
	now    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later  = "2026-03-01T12:00:00Z"
)

type object = map[string]any

func list(conditions ...any) *value.List {
	return value.Freeze(conditions, nil, value.KeepAll).(*value.List)
}

// plain returns a list as plain JSON; nil for none.
func plain(l *value.List) []any {
	if l == nil {
		return nil
	}
	return value.Plain(l).([]any)
}

func condition(kind, status, reason, message, since string) object {
	return object{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}
}

// with returns a condition with a generation.
func with(c object, generation int64) object {
	c["observedGeneration"] = generation
	return c
}

func TestSet(t *testing.T) {
	t.Parallel()
	other := condition("Other", "True", "A", "", before)
	ready := func() object { return with(condition("Ready", "True", "A", "m", before), 1) }
	for name, tc := range map[string]struct {
		list *value.List
		want Condition
		// result is what the list becomes; nil when it stays as it is.
		result []any
	}{
		"the first of all":         {nil, Condition{Type: "Ready", Status: "True", Reason: "A", Message: "m"}, []any{condition("Ready", "True", "A", "m", later)}},
		"the first of its type":    {list(other), Condition{Type: "Ready", Status: "True"}, []any{other, condition("Ready", "True", "", "", later)}},
		"as it is":                 {list(other, ready()), Condition{Type: "Ready", Status: "True", Reason: "A", Message: "m", ObservedGeneration: 1, Track: true}, nil},
		"another status":           {list(ready(), other), Condition{Type: "Ready", Status: "False", Reason: "A", Message: "m", ObservedGeneration: 1}, []any{with(condition("Ready", "False", "A", "m", later), 1), other}},
		"another reason":           {list(ready()), Condition{Type: "Ready", Status: "True", Reason: "B", Message: "m", ObservedGeneration: 1}, []any{with(condition("Ready", "True", "B", "m", before), 1)}},
		"another message":          {list(ready()), Condition{Type: "Ready", Status: "True", Reason: "A", Message: "n", ObservedGeneration: 1}, []any{with(condition("Ready", "True", "A", "n", before), 1)}},
		"a generation, tracked":    {list(ready()), Condition{Type: "Ready", Status: "True", Reason: "A", Message: "m", ObservedGeneration: 2, Track: true}, []any{with(condition("Ready", "True", "A", "m", before), 2)}},
		"a generation alone":       {list(ready()), Condition{Type: "Ready", Status: "True", Reason: "A", Message: "m", ObservedGeneration: 2}, nil},
		"a generation with others": {list(ready()), Condition{Type: "Ready", Status: "True", Reason: "B", Message: "m", ObservedGeneration: 2}, []any{with(condition("Ready", "True", "B", "m", before), 2)}},
		"no generation":            {list(ready()), Condition{Type: "Ready", Status: "True", Reason: "A", Message: "n"}, []any{condition("Ready", "True", "A", "n", before)}},
		"no time yet":              {list(object{"type": "Ready", "status": "True", "reason": "A"}), Condition{Type: "Ready", Status: "True", Reason: "B"}, []any{condition("Ready", "True", "B", "", later)}},
		"what is no condition":     {list("a text", ready()), Condition{Type: "Other", Status: "True"}, []any{"a text", ready(), condition("Other", "True", "", "", later)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := plain(tc.list)
			got, changed := tc.want.Set(tc.list, tc.list, now)
			if changed != (tc.result != nil) {
				t.Errorf("changed is %v", changed)
			}
			if !changed && got != tc.list {
				t.Error("a list that has not changed is new")
			}
			if diff := cmp.Diff(tc.result, plain(got)); changed && diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(was, plain(tc.list)); diff != "" {
				t.Errorf("the list that was given has changed:\n%s", diff)
			}
		})
	}
}

// TestSetTwice: what was set is the same the next time.
func TestSetTwice(t *testing.T) {
	t.Parallel()
	c := Condition{Type: "Ready", Status: "True", Reason: "A", Message: strings.Repeat("ü", MaxConditionMessage), ObservedGeneration: 3, Track: true}
	once, _ := c.Set(nil, nil, now)
	if twice, changed := c.Set(once, once, now.Add(time.Hour)); changed || twice != once {
		t.Error("setting it again changes it")
	}
	if message := value.StringAt(once.At(0), "message"); len(message) > MaxConditionMessage || !strings.HasSuffix(message, "ü") {
		t.Errorf("the message has %d bytes", len(message))
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	a, b := condition("A", "True", "", "", before), condition("B", "True", "", "", before)
	both := list(a, b)
	got, changed := Remove(both, "A")
	if diff := cmp.Diff([]any{b}, value.Plain(got)); diff != "" || !changed || both.Len() != 2 {
		t.Errorf("changed is %v, %d are left of the given:\n%s", changed, both.Len(), diff)
	}
	if same, changed := Remove(both, "C"); changed || same != both {
		t.Error("removing what is not there changes something")
	}
	if none, changed := Remove(nil, "C"); changed || none != nil {
		t.Error("removing from nothing changes something")
	}
}
