package expr

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

// TestCharge: each limit refuses the call that would pass it, names the call and
// itself, and lets what is below pass.
func TestCharge(t *testing.T) {
	t.Parallel()
	limits := Limits{Run: 100, Cost: 150, Most: 300, Nodes: 10, Text: 50, Bytes: 120}
	for name, tc := range map[string]struct {
		needs []Need
		grow  int
		want  string
		spent bool
	}{
		"nothing":                    {needs: []Need{{}}},
		"up to the limit of a run":   {needs: []Need{{Work: 60}, {Work: 40}}},
		"over the limit of a run":    {needs: []Need{{Work: 60}, {Work: 41}}, want: "f: the expression costs more than 100 units"},
		"far over it":                {needs: []Need{{Work: 1 << 63}, {Work: 1 << 63}}, want: "f: the expression costs more than 100 units"},
		"a text as long as allowed":  {needs: []Need{{Text: 50}}},
		"a longer text":              {needs: []Need{{Text: 51}}, want: "f: it would build a text longer than the limit of 50 bytes, this would have 51; build shorter texts"},
		"a text without measure":     {needs: []Need{{Text: Uncounted}}, want: "this would have far more"},
		"bytes up to the limit":      {needs: []Need{{Bytes: 60}, {Text: 50, Bytes: 60}}},
		"bytes over the limit":       {needs: []Need{{Bytes: 60}, {Bytes: 61}}, want: "f: the evaluation builds more than its limit of 120 bytes", spent: true},
		"bytes without measure":      {needs: []Need{{Bytes: Uncounted}, {Bytes: 1}}, want: "f: the evaluation builds more than its limit of 120 bytes", spent: true},
		"texts are bytes":            {needs: []Need{{Text: 50}, {Text: 50}, {Text: 50}}, want: "f: the evaluation builds more than its limit of 120 bytes", spent: true},
		"memory while it runs":       {needs: []Need{{Scratch: ScratchBytes}, {Scratch: ScratchBytes}}},
		"too much memory meanwhile":  {needs: []Need{{Scratch: ScratchBytes + 1}}, want: "f: it would take more memory than the limit of 67108864 bytes for one call"},
		"items do not bring bytes":   {needs: []Need{{Bytes: 121}}, grow: 1000, want: "f: the evaluation builds more than its limit of 120 bytes", spent: true},
		"items bring no longer runs": {needs: []Need{{Work: 101}}, grow: 1000, want: "f: the expression costs more than 100 units"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := NewMeterWith(t.Context(), limits)
			defer m.Close()
			m.Grow(tc.grow)
			var err error
			for i, need := range tc.needs {
				if err = m.Charge("f", need); err != nil && i < len(tc.needs)-1 && tc.want == "" {
					t.Fatalf("need %d: %v", i, err)
				}
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || !TooCostly(err) || Spent(err) != tc.spent) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestRuns: the work of each run is counted for itself, all of it for the
// evaluation; a refused call costs nothing.
func TestRuns(t *testing.T) {
	t.Parallel()
	m := NewMeterWith(t.Context(), Limits{Run: 100, Cost: 150, Most: 150, Text: 1, Bytes: 1})
	defer m.Close()
	outer := m.Begin()
	if err := m.Charge("f", Need{Work: 90}); err != nil {
		t.Fatal(err)
	}
	inner := m.Begin() // a variable that is computed on the way
	if err := m.Charge("f", Need{Work: 50}); err != nil {
		t.Fatal(err)
	}
	m.End(inner)
	if err := m.Charge("f", Need{Work: 11}); err == nil || Spent(err) {
		t.Errorf("the outer run goes on: %v", err)
	}
	m.End(outer)
	if m.Spent() != 140 {
		t.Errorf("%d were spent", m.Spent())
	}
	if err := m.Charge("f", Need{Work: 11}); !errors.Is(err, ErrBudget) {
		t.Errorf("the evaluation goes on: %v", err)
	}
}

// TestGrowthEnds: items raise the budget, up to the most.
func TestGrowthEnds(t *testing.T) {
	t.Parallel()
	m := NewMeter(t.Context())
	defer m.Close()
	m.Grow(1_000_000)
	if err := m.Spend(MaxEvaluationCost); err != nil {
		t.Error(err)
	}
	if err := m.Spend(1); !errors.Is(err, ErrBudget) {
		t.Errorf("got %v", err)
	}
}

// TestStopped: an evaluation that nobody wants any more ends with the next call,
// and with the next expression.
func TestStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := NewMeter(ctx)
	defer m.Close()
	if err := errors.Join(m.Charge("f", Need{Work: 1}), m.Spend(1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, err := range []error{m.Charge("f", Need{Work: 1}), m.Spend(1)} {
		if !errors.Is(err, context.Canceled) || TooCostly(err) || err.Error() != "the evaluation was stopped: context canceled" {
			t.Errorf("got %v", err)
		}
	}
}

// TestLinear: a tenth of a unit for each byte or item.
func TestLinear(t *testing.T) {
	t.Parallel()
	if need := Linear(7)([]value.Value{value.OfString("0123456789"), value.OfInt(1)}); need != (Need{Work: 3, Bytes: 7}) {
		t.Errorf("got %+v", need)
	}
}

// TestPatternSize is never less than what the program has.
func TestPatternSize(t *testing.T) {
	t.Parallel()
	for pattern, atLeast := range map[string]int{"": 2, "abc": 5, "a{2,4}": 8, "(a{100}){10}": 1000, "(a|b)*c?": 8, "[a-z]+": 4} {
		if got, err := PatternSize(pattern); err != nil || got < atLeast || got > 5*atLeast {
			t.Errorf("%q: %d, %v, want about %d", pattern, got, err, atLeast)
		}
	}
	if _, err := PatternSize("("); err == nil {
		t.Error("( is a pattern")
	}
}

// TestWithin: an evaluation is not within its limits any more once it has met one, or was
// stopped.
func TestWithin(t *testing.T) {
	t.Parallel()
	for name, met := range map[string]func(*Meter, context.CancelFunc){
		"cost":    func(m *Meter, _ context.CancelFunc) { _ = m.Spend(EvaluationLimits().Most + 1) },
		"nodes":   func(m *Meter, _ context.CancelFunc) { _ = m.Built(MaxEvaluationNodes + 1) },
		"bytes":   func(m *Meter, _ context.CancelFunc) { _ = m.Allocate("x", 0, EvaluationLimits().Bytes+1) },
		"stopped": func(_ *Meter, stop context.CancelFunc) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			m := NewMeter(ctx)
			defer m.Close()
			before := m.Within()
			met(m, stop)
			if !before || m.Within() {
				t.Errorf("within: %v, then %v", before, m.Within())
			}
		})
	}
}
