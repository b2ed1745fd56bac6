package rego

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// toTerm sends an input over.
func toTerm(v value.Value) (*ast.Term, int, error) {
	b, nodes, err := appendInput(nil, v)
	if err != nil {
		return nil, nodes, err
	}
	m := &message{rest: b}
	t, err := readInput(m)
	if err == nil && len(m.rest) > 0 {
		err = errMangled
	}
	return t, nodes, err
}

// fromTerm sends a result back.
func fromTerm(t *ast.Term) (value.Value, error) {
	b, err := appendResult(nil, t)
	if err != nil {
		return nil, err
	}
	m := &message{rest: b}
	v, err := readResult(m)
	if err == nil && len(m.rest) > 0 {
		err = errMangled
	}
	return v, err
}

// random makes a value of the sorts that a policy reads.
func random(r *rand.Rand, depth int) value.Value {
	n := r.IntN(8)
	if depth == 0 {
		n = r.IntN(6)
	}
	switch n {
	case 0:
		return value.Null
	case 1:
		return value.OfBool(r.IntN(2) == 0)
	case 2:
		return value.OfInt(int64(r.Uint64()))
	case 3:
		return value.OfDouble(r.NormFloat64() * math.Pow(10, float64(r.IntN(30)-15)))
	case 4:
		return value.OfString(fmt.Sprintf("%c\x00\"%d", rune(r.IntN(0xd000)), r.Int()))
	case 5:
		return value.OfInt(int64(r.IntN(10)))
	case 6:
		items := make([]value.Value, r.IntN(5))
		for i := range items {
			items[i] = random(r, depth-1)
		}
		return value.NewList(items)
	default:
		fields := map[string]value.Value{}
		for range r.IntN(5) {
			fields[fmt.Sprintf("k%d", r.IntN(100))] = random(r, depth-1)
		}
		return value.FromMap(fields)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		v := random(r, 4)
		term, nodes, err := toTerm(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := fromTerm(term)
		if err != nil {
			t.Fatal(err)
		}
		if v.Equal(back) != types.True || nodes < 1 {
			t.Fatalf("%v became %v", value.Plain(v), value.Plain(back))
		}
	}
}

func TestToTerm(t *testing.T) {
	t.Parallel()
	shared := value.NewList([]value.Value{value.OfInt(1), value.OfInt(2)})
	for range 30 {
		shared = value.NewList([]value.Value{shared, shared})
	}
	for name, c := range map[string]struct {
		v    value.Value
		want string
	}{
		"nothing":  {nil, "null"},
		"none":     {value.None, "null"},
		"some":     {value.Some(value.OfInt(1)), "1"},
		"uint":     {types.Uint(math.MaxUint64), "18446744073709551615"},
		"bytes":    {types.Bytes("a"), `"YQ=="`},
		"double":   {value.OfDouble(1.5), "1.5"},
		"infinite": {value.OfDouble(math.Inf(1)), "a number that is not finite cannot be given to Rego"},
		"error":    {types.NewErr("x"), "x"},
		"shared":   {shared, ErrInputTooLarge.Error()},
		"long":     {value.OfString(strings.Repeat("x", MaxInputBytes+1)), ErrInputTooLarge.Error()},
		"fields":   {value.FromMap(map[string]value.Value{"b": value.None, "a": value.OfDuration(time.Minute)}), `{"a": "1m0s"}`},
	} {
		got, _, err := toTerm(c.v)
		text := fmt.Sprint(err)
		if err == nil {
			text = got.String()
		}
		if text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
}

// TestFromTermIsBounded reads what names one part many times.
func TestFromTermIsBounded(t *testing.T) {
	t.Parallel()
	list, object := ast.ArrayTerm(ast.IntNumberTerm(1)), ast.ObjectTerm()
	set := ast.SetTerm(ast.IntNumberTerm(1))
	for i := range 40 {
		list = ast.ArrayTerm(list, list)
		object = ast.ObjectTerm([2]*ast.Term{ast.StringTerm("a"), object}, [2]*ast.Term{ast.StringTerm("b"), object})
		set = ast.SetTerm(ast.ArrayTerm(set, set), ast.IntNumberTerm(i))
	}
	wide := make([]*ast.Term, value.MaxResultNodes)
	for i := range wide {
		wide[i] = ast.StringTerm(strings.Repeat("x", 20))
	}
	for _, term := range []*ast.Term{list, object, set, ast.ArrayTerm(wide...), ast.StringTerm(strings.Repeat("x", value.MaxResultBytes+1))} {
		if _, err := fromTerm(term); !errors.Is(err, value.ErrResultTooLarge) {
			t.Errorf("%v", err)
		}
	}
	if _, err := fromTerm(ast.VarTerm("x")); err == nil {
		t.Error("a variable is no value")
	}
}

func TestResultCheck(t *testing.T) {
	t.Parallel()
	text := &schema.Type{Kind: schema.String}
	want := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{
		"name":  text,
		"phase": {Kind: schema.String, Enum: []string{"Up", "Down"}},
		"ports": {Kind: schema.List, Elem: &schema.Type{Kind: schema.Int}},
		"share": {Kind: schema.Double},
		"tags":  {Kind: schema.Map, Elem: text},
		"any":   schema.Any,
	}}
	var got []string
	for _, c := range []struct {
		result Result
		raw    any
	}{
		{Result{}, "x"},
		{Result{Enum: []string{"load", "none"}}, "none"},
		{Result{Enum: []string{"load", "none"}}, "foo"},
		{Result{Enum: []string{"load", "none"}}, int64(1)},
		{Result{Enum: []string{"load", "none"}}, []any{}},
		{Result{Enum: []string{"load", "none"}}, nil},
		{Result{Schema: want}, map[string]any{"name": "a", "phase": "Up", "ports": []any{int64(1)}, "share": int64(1), "tags": map[string]any{"a": "b"}, "any": []any{true}}},
		{Result{Schema: want}, map[string]any{"nam": "a"}},
		{Result{Schema: want}, map[string]any{"phase": "Sideways"}},
		{Result{Schema: want}, map[string]any{"ports": []any{int64(1), "b"}}},
		{Result{Schema: want}, map[string]any{"ports": []any{1.5}}},
		{Result{Schema: want}, map[string]any{"tags": map[string]any{"a": false}}},
		{Result{Schema: want}, "x"},
	} {
		c.result.Query = "data.x"
		got = append(got, fmt.Sprint(c.result.Check(of(c.raw))))
	}
	if diff := cmp.Diff([]string{
		"<nil>", "<nil>",
		`data.x gave "foo", which is none of load, none`,
		"data.x gave 1, which is none of load, none",
		"data.x gave a list, which is none of load, none",
		"data.x gave null, which is none of load, none",
		"<nil>",
		`data.x has a field "nam", which its schema does not have`,
		`data.x.phase is "Sideways", which is none of Up, Down`,
		"data.x.ports[1] is a string, not an integer",
		"data.x.ports[0] is a number, not an integer",
		"data.x.tags.a is a boolean, not a string",
		"data.x is a string, not an object",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzMessages reads what nobody has written: it is refused, or a value.
func FuzzMessages(f *testing.F) {
	good, _, err := appendInput(nil, of(map[string]any{"a": []any{int64(-1), 1.5, "x", nil, true}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{tagText, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := readResult(&message{rest: b}); (v == nil) != (err != nil) {
			t.Errorf("%v, %v", v, err)
		}
		if v, err := readInput(&message{rest: b}); (v == nil) != (err != nil) {
			t.Errorf("%v, %v", v, err)
		}
	})
}
