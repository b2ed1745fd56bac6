package policytest

import "testing"

// TestPairs: entries are paired by their type if that is of one entry on both sides, else by
// their places.
func TestPairs(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	cpu, memory, pods := m{"type": "Resource", "name": "cpu"}, m{"type": "Resource", "name": "memory"}, m{"type": "Pods", "name": "p"}
	for name, tc := range map[string]struct {
		want, got []any
		holds     bool
	}{
		"the same":            {[]any{cpu, memory}, []any{cpu, memory}, true},
		"in part":             {[]any{m{"type": "Resource"}, memory}, []any{cpu, memory}, true},
		"one of two":          {[]any{cpu}, []any{cpu, memory}, false},
		"another order":       {[]any{memory, cpu}, []any{cpu, memory}, false},
		"one twice":           {[]any{cpu, cpu}, []any{cpu, memory}, false},
		"two for one":         {[]any{cpu, cpu}, []any{cpu}, false},
		"two for others":      {[]any{cpu, memory}, []any{pods, cpu}, false},
		"one beside two":      {[]any{pods}, []any{cpu, pods, memory}, true},
		"none beside two":     {[]any{m{"type": "Pods", "name": nil}}, []any{cpu, memory}, true},
		"none of two":         {[]any{m{"type": "Resource", "name": nil}}, []any{cpu, memory}, false},
		"three, with another": {[]any{cpu, pods, memory}, []any{cpu, pods, memory}, true},
	} {
		if holds := equal(normal(tc.want), normal(shape(tc.want, any(tc.got)))); holds != tc.holds {
			t.Errorf("%s: %v, want %v", name, holds, tc.holds)
		}
	}
}

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
