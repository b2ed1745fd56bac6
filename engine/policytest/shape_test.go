package policytest

import "testing"

// TestNoneOfAType: an entry of nothing but nulls asks that there is none of its type.
func TestNoneOfAType(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	ready, other := m{"type": "Ready", "status": "True"}, m{"type": "Other", "status": "True"}
	none := m{"type": "Ready", "status": nil}
	for name, tc := range map[string]struct {
		want, got any
		holds     bool
	}{
		"no list":               {[]any{none}, nil, true},
		"an empty list":         {[]any{none}, []any{}, true},
		"others only":           {[]any{none}, []any{other}, true},
		"one of the type":       {[]any{none}, []any{other, ready}, false},
		"one with a null":       {[]any{none}, []any{m{"type": "Ready", "status": nil}}, true},
		"beside one that is":    {[]any{none, other}, []any{other}, true},
		"beside one that isn't": {[]any{none, other}, []any{}, false},
		"the type alone":        {[]any{m{"type": "Ready"}}, []any{}, false},
		"the type alone, there": {[]any{m{"type": "Ready"}}, []any{ready}, true},
		"not a list":            {[]any{none}, "x", false},
		"no status":             {m{"conditions": []any{none}}, nil, true},
		"no status, and one":    {m{"conditions": []any{ready}}, nil, false},
		"another one":           {[]any{ready}, nil, false},
	} {
		if holds := equal(normal(tc.want), normal(shape(tc.want, tc.got))); holds != tc.holds {
			t.Errorf("%s: %v, want %v", name, holds, tc.holds)
		}
	}
}
