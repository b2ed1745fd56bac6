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
		"whole":    {value.OfDouble(-1), "-1.0"},
		"large":    {value.OfDouble(1e21), "1e+21"},
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

// TestResultTake: what a query gives is what is promised, or an error that names its place.
func TestResultTake(t *testing.T) {
	t.Parallel()
	m := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	of1 := func(kind string, more ...any) map[string]any { return m(append([]any{"type", kind}, more...)...) }
	object := of1("object", "required", []any{"name"}, "properties", m(
		"name", of1("string", "pattern", "^[a-z]+$", "maxLength", int64(5)),
		"phase", of1("string", "enum", []any{"Up", "Down"}),
		"ports", of1("array", "items", of1("integer", "minimum", int64(1), "maximum", int64(99))),
		"level", of1("integer", "enum", []any{int64(1), int64(2)}),
		"share", of1("number"),
		"until", of1("string", "format", "date-time"),
		"note", of1("string", "nullable", true),
		"tags", of1("object", "additionalProperties", of1("string")),
		"any", m(),
	))
	tests := map[string]struct {
		schema any
		raw    any
		want   string
	}{
		"all of it":            {object, m("name", "a", "phase", "Up", "ports", []any{int64(1)}, "share", int64(1), "tags", m("a", "b"), "any", []any{true}), ""},
		"no such field":        {object, m("name", "a", "nam", "a"), "data.x.nam is a forbidden property"},
		"an enum":              {object, m("name", "a", "phase", "Sideways"), `data.x.phase should be one of [Up Down]`},
		"an enum of integers":  {object, m("name", "a", "level", int64(7)), "data.x.level should be one of [1 2]"},
		"the wrong type":       {object, m("name", "a", "ports", []any{int64(1), "b"}), `data.x.ports[1] must be of type integer, not string`},
		"a fraction":           {object, m("name", "a", "ports", []any{1.5}), `data.x.ports[0] must be of type integer, not number`},
		"too large":            {object, m("name", "a", "ports", []any{int64(100)}), "data.x.ports[0] should be less than or equal to 99"},
		"in a map":             {object, m("name", "a", "tags", m("a", false)), `data.x.tags.a must be of type string, not boolean`},
		"no object":            {object, "x", `data.x must be of type object, not string`},
		"a required field":     {object, m(), "data.x.name is required"},
		"a pattern":            {object, m("name", "A"), "data.x.name should match '^[a-z]+$'"},
		"two things":           {object, m("name", "aaaaaa", "share", true), `data.x.name should be at most 5 chars long; data.x.share must be of type number, not boolean`},
		"null":                 {of1("string"), nil, `data.x must be of type string, not null`},
		"null where it may be": {of1("string", "nullable", true), nil, ""},
		"no date-time":         {of1("string", "format", "date-time"), "soon", `data.x must be of type date-time: "soon"`},
		"neither of two":       {m("oneOf", []any{of1("integer"), of1("string")}), true, "must validate one and only one schema (oneOf)"},
		"no additional":        {of1("object", "additionalProperties", false), m("a", int64(1)), "data.x.a is a forbidden property"},
		"with other fields":    {of1("object", "properties", m("a", of1("integer")), "additionalProperties", of1("integer")), m("a", int64(1), "z", int64(2)), ""},
		"what is not known":    {of1("object", "properties", m("a", of1("integer")), "x-kubernetes-preserve-unknown-fields", true), m("z", "x"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.NewValidator("r", test.schema)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Result{Query: "data.x", Schema: s}.Take(of(test.raw))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	for raw, want := range map[any]string{"none": "", "foo": `data.x gave "foo", which is none of load, none`, int64(1): "data.x gave 1, which is none of load, none", nil: "data.x gave null, which is none of load, none"} {
		_, err := Result{Query: "data.x", Enum: []string{"load", "none"}}.Take(of(raw))
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%v: got %v, want %q", raw, err, want)
		}
	}
}

// TestResultTypes: values are of the types that the schema promises to expressions.
func TestResultTypes(t *testing.T) {
	t.Parallel()
	text := map[string]any{"type": "string", "format": "date-time"}
	number := map[string]any{"type": "number"}
	s, err := schema.NewValidator("r", map[string]any{"type": "object", "properties": map[string]any{"until": text, "share": number, "shares": map[string]any{"type": "array", "items": number}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Result{Schema: s}.Take(of(map[string]any{"until": "2026-01-01T00:00:00Z", "share": int64(2), "shares": []any{int64(1), 2.5}}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"until": "google.protobuf.Timestamp", "share": "double", "shares": "list"}
	for name, want := range want {
		if v := value.Path(got, name); v.Type().TypeName() != want {
			t.Errorf("%s is a %s, want %s", name, v.Type(), want)
		}
	}
	if v := value.Path(got, "shares").(*value.List).At(0); v.Type().TypeName() != "double" {
		t.Errorf("an item is a %s", v.Type())
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
