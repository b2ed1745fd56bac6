package eval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// TestAnEvaluationIsStopped: once its context is done, an evaluation ends with the
// next expression, and says so in one problem that may be tried again.
func TestAnEvaluationIsStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t, `  rules:
    - name: r
      forEach: lists.range(1000)
      as: i
      do: [{log: {message: "${memory.get('x' + string(i)).hasValue()}"}}]
`, "{kind: Widget, metadata: {name: w}}")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := 0
	in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now, Recall: func(string) value.Value {
		if asked++; asked == 10 {
			cancel()
		}
		return nil
	}}
	d := eval.Plain(ctx, in)
	if len(d.Problems) != 1 || !errors.Is(d.Problems[0].Err, context.Canceled) || !d.Problems[0].Transient() || asked > 11 {
		t.Errorf("%d items, problems %v", asked, d.Problems)
	}
}

// TestABudgetEndsARule: an item that uses the evaluation's budget up is the last.
func TestABudgetEndsARule(t *testing.T) {
	t.Parallel()
	b := newBench(t, `  variables:
    - {name: long, expression: "lists.range(9000).map(i, 'abcdefghijklmnopqrstuvwxyz').join('-')"}
  rules:
    - name: r
      forEach: lists.range(5000)
      as: i
      do: [{log: {message: "${variables.long}${i}"}}]
      onError: [{log: {message: failed}}]
`, "{kind: Widget, metadata: {name: w}}")
	d := eval.Plain(t.Context(), eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now})
	if len(d.Problems) != 1 || !expr.Spent(d.Problems[0].Err) || !strings.Contains(d.Problems[0].Err.Error(), "the evaluation builds more than its limit of 67108864 bytes") {
		t.Errorf("problems %v", d.Problems)
	}
}
