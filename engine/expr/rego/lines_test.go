package rego

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
)

// TestTraced: a query tells the lines that it evaluates, and knows those that it may.
func TestTraced(t *testing.T) {
	t.Parallel()
	q := mustQuery(t, mustCompile(t, `
default x := 0

x := 1 if {
	some i in input.list
	i > 1
	two
}

two if {
	input.two
	[n | some n in input.list; n > 5]
}

unused := 3
`), "data.p.x")
	type line struct {
		text      string
		evaluated bool
	}
	for name, c := range map[string]struct {
		input map[string]any
		want  []line
	}{
		"all":         {map[string]any{"list": []any{2}, "two": true}, []line{{"default x := 0", false}, {"x := 1 if {", true}, {"some i in input.list", true}, {"i > 1", true}, {"two", true}, {"two if {", true}, {"input.two", true}, {"[n | some n in input.list; n > 5]", true}}},
		"nothing":     {map[string]any{}, []line{{"default x := 0", true}, {"x := 1 if {", false}, {"some i in input.list", true}, {"i > 1", false}, {"two", false}, {"two if {", false}, {"input.two", false}, {"[n | some n in input.list; n > 5]", false}}},
		"none larger": {map[string]any{"list": []any{1}, "two": true}, []line{{"default x := 0", true}, {"x := 1 if {", false}, {"some i in input.list", true}, {"i > 1", true}, {"two", false}, {"two if {", false}, {"input.two", false}, {"[n | some n in input.list; n > 5]", false}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[Line]bool{}
			ctx := Traced(t.Context(), func(l Line) { seen[l] = true })
			if _, err := q.Eval(ctx, expr.NewMeter(ctx), now, of(c.input)); err != nil {
				t.Fatal(err)
			}
			var got []line
			for _, l := range q.Lines() {
				got = append(got, line{l.Text, seen[l]})
				delete(seen, l)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(line{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for l := range seen {
				t.Errorf("%+v was evaluated, and is none of the query's lines", l)
			}
		})
	}
}
