package cel

import (
	"testing"

	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// TestTemplateRows: a mapping that is built for many rows at once is what it is for each
// of them, also where a field is there in some rows only, and costs as much.
func TestTemplateRows(t *testing.T) {
	t.Parallel()
	tpl := template(t, accessEnv(t), `{name: "${d.name}", pool: "${d.?pool}", free: "${d.?free}", kind: x}`)
	var rows []ref.Val
	for i := range 20 {
		fields := map[string]any{"name": string(rune('a' + i))}
		if i%3 == 0 {
			fields["pool"] = "p"
		}
		if i%4 < 2 {
			fields["free"] = int64(i)
		}
		rows = append(rows, object(fields))
	}
	meter := expr.NewMeter(t.Context())
	defer meter.Close()
	got, each := tpl.Mapping().Rows(&direct.Batch{Rows: len(rows), Columns: map[string][]ref.Val{"d": rows}}, meter)
	if len(got) != len(rows) {
		t.Fatal("the mapping is not built for all rows at once")
	}
	for i, row := range rows {
		before := meter.Spent()
		want, err := tpl.Build(names{"d": row}, meter)
		if err != nil || !value.Alike(got[i], want) || meter.Spent()-before != each {
			t.Errorf("row %d is %v and costs %d, want %v for %d (%v)", i, value.Plain(got[i]), each, value.Plain(want), meter.Spent()-before, err)
		}
	}
}

// TestTemplateColumns: the fields of many rows are those of the mapping that is built of
// each of them, and weigh and cost as much.
func TestTemplateColumns(t *testing.T) {
	t.Parallel()
	tpl := template(t, accessEnv(t), `{name: "${d.name}", pool: "${d.?pool}", list: "${d.?list}", kind: x}`)
	var rows []ref.Val
	for i := range 20 {
		fields := map[string]any{}
		if i != 7 { // this one cannot be built
			fields["name"] = string(rune('a' + i))
		}
		if i%3 == 0 {
			fields["pool"] = "p"
		}
		if i%4 < 2 {
			fields["list"] = []any{int64(i), "x"}
		}
		rows = append(rows, object(fields))
	}
	meter := expr.NewMeter(t.Context())
	defer meter.Close()
	fields := tpl.Mapping().FieldNames()
	into, weights := make([][]value.Value, len(fields)), make([]uint32, len(rows))
	for f := range into {
		into[f] = make([]value.Value, len(rows))
	}
	each, ok := tpl.Mapping().Columns(&direct.Batch{Rows: len(rows), Columns: map[string][]ref.Val{"d": rows}}, meter, into, weights)
	if !ok {
		t.Fatal("the fields are not computed for all rows at once")
	}
	got := value.NewRows(fields, into)
	for i, row := range rows {
		before := meter.Spent()
		want, err := tpl.Build(names{"d": row}, meter)
		if err != nil {
			if i != 7 || weights[i] != 0 {
				t.Errorf("row %d weighs %d: %v", i, weights[i], err)
			}
			continue
		}
		if !value.Alike(got.At(i), want) || int(weights[i]) != value.Weight(want) || meter.Spent()-before != each {
			t.Errorf("row %d is %v, weighs %d and costs %d, want %v, %d and %d", i, value.Plain(got.At(i)), weights[i], each, value.Plain(want), value.Weight(want), meter.Spent()-before)
		}
	}
}

// asked is a scope that notes which names it was asked for.
type asked struct {
	names
	of map[string]bool
}

func (a asked) ResolveName(name string) (any, bool) {
	a.of[name] = true
	return a.names.ResolveName(name)
}

// TestRowsNeedNoName: rows that are evaluated one by one do not resolve a name that none
// of them needs, because what it stands for may cost something.
func TestRowsNeedNoName(t *testing.T) {
	t.Parallel()
	p := compiled(t, accessEnv(t), `l.exists(x, x == "c" && x.startsWith(d.name))`)
	for needed, list := range map[bool][]string{false: {"a", "b"}, true: {"a", "c"}} {
		meter := expr.NewMeter(t.Context())
		defer meter.Close()
		scope := asked{names{"d": object(map[string]any{"name": "c"})}, map[string]bool{}}
		rows := []ref.Val{value.OfStrings(list), value.OfStrings(list)}
		got := p.Rows(&direct.Batch{Rows: len(rows), Columns: map[string][]ref.Val{"l": rows}, Scope: scope, Meter: meter}, meter)
		if len(got) != len(rows) || value.IsTrue(got[0]) != needed || scope.of["d"] != needed {
			t.Errorf("of %v: %v, and d was asked for: %t", list, got, scope.of["d"])
		}
	}
}
