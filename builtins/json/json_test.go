package json

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

func encode(v value.Value) (string, error) {
	got, err := Functions()[0].Do(nil, []value.Value{v})
	text, _ := value.Str(got)
	return text, err
}

func parse(text value.Value) (value.Value, error) {
	for _, f := range Functions() {
		if f.Name == "json.parse" {
			return f.Do(nil, []value.Value{text})
		}
	}
	panic("no json.parse")
}

func TestEncode(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, tc := range map[string]struct {
		v    any
		want string
	}{
		"sorted keys":      {object{"b": int64(1), "a": []any{true, nil, 2.5}}, `{"a":[true,null,2.5],"b":1}`},
		"no HTML escapes":  {"<a & b>", `"<a & b>"`},
		"quotes":           {"\"\\\n\x00", `"\"\\\n\u0000"`},
		"multi-byte":       {"ü🙂", `"ü🙂"`},
		"an empty object":  {object{}, "{}"},
		"an empty list":    {[]any{}, "[]"},
		"null":             {nil, "null"},
		"a time":           {value.OfTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), `"2026-03-01T12:00:00Z"`},
		"a duration":       {value.OfDuration(time.Minute), `"1m0s"`},
		"none":             {value.None, "null"},
		"an optional":      {value.Some(value.OfInt(1)), "1"},
		"a large number":   {int64(math.MaxInt64), "9223372036854775807"},
		"a float of 10^21": {1e21, "1e+21"},
		"an absent field":  {object{"a": nil}, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, ready := tc.v.(value.Value)
			if !ready {
				v = value.Freeze(tc.v, nil, value.KeepAll)
			}
			if got, err := encode(v); err != nil || got != tc.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	if _, err := encode(value.OfDouble(math.NaN())); err == nil {
		t.Error("what JSON cannot say is encoded")
	}
}

// TestParse: what is not JSON has no value.
func TestParse(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]value.Value{
		`{"a":[1]}`: value.Some(value.Freeze(map[string]any{"a": []any{int64(1)}}, nil, value.KeepAll)), "null": value.Some(value.Null), "1": value.Some(value.OfInt(1)),
		"": value.None, "{": value.None, "{} {}": value.None, "a: b": value.None,
	} {
		if got, err := parse(value.OfString(give)); err != nil || !value.IsTrue(got.Equal(want)) {
			t.Errorf("%q: %v, %v; want %v", give, got, err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		`{"b": [1, 2.5, "x"], "a": {"c": true}}`: map[string]any{"a": map[string]any{"c": true}, "b": []any{int64(1), 2.5, "x"}},
		` "a" `:                                  "a",
		`9223372036854775807`:                    int64(math.MaxInt64),
		`null`:                                   nil,
		`[]`:                                     []any{},
		`{"startTime": "2026-03-01T12:00:00Z"}`:  map[string]any{"startTime": "2026-03-01T12:00:00Z"},
	} {
		got, err := decode(nil, []value.Value{value.OfString(text)})
		if diff := cmp.Diff(want, value.Plain(got)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "{", "{a: 1}", `{"a": 1,}`, "[1", "tru", "1 2", `{"a": 1}}`, strings.Repeat("[", 20_000)} {
		if _, err := decode(nil, []value.Value{value.OfString(text)}); err == nil {
			t.Errorf("%.20q is decoded", text)
		}
	}
}

// TestRoundTrip: what was encoded is decoded to the same.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	v := value.Freeze(map[string]any{"a": []any{int64(1), 2.5, "x", true, nil, map[string]any{"b": "ü"}}}, nil, value.KeepAll)
	text, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	again, err := decode(nil, []value.Value{value.OfString(text)})
	if err != nil || !value.IsTrue(again.Equal(v)) {
		t.Errorf("%s: %v", text, err)
	}
}

func TestYAML(t *testing.T) {
	t.Parallel()
	functions := map[string]expr.Function{}
	for _, f := range Functions() {
		functions[f.Name] = f
	}
	const text = "args:\n- load\n- 3\nname: driver\nquiet: true\n"
	decoded, err := functions["yaml.decode"].Do(nil, []value.Value{value.OfString(text)})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := functions["yaml.encode"].Do(nil, []value.Value{decoded})
	if got, _ := value.Str(encoded); err != nil || got != text {
		t.Errorf("%v: want\n%s\ngot\n%s", err, text, got)
	}
	for _, bad := range []string{"a: [", "a: 1\na: 2", "a: b: c", "a: 1\n---\nb: 2", "---\n---\nb: 2"} {
		if v, err := functions["yaml.decode"].Do(nil, []value.Value{value.OfString(bad)}); err == nil {
			t.Errorf("%q is read as %v", bad, value.Plain(v))
		}
	}
}

// TestOneDocumentOfYAML: markers of documents do not make several.
func TestOneDocumentOfYAML(t *testing.T) {
	t.Parallel()
	for _, f := range Functions() {
		if f.Name != "yaml.decode" {
			continue
		}
		for _, text := range []string{"---\na: 1\n", "a: 1\n---\n", "a: 1\n...\n", "a: '---'", "--- {a: 1}"} {
			if _, err := f.Do(nil, []value.Value{value.OfString(text)}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// TestYAMLOfAnyText: every character comes back, as a value and as a key, also those that
// no YAML text may contain.
func TestYAMLOfAnyText(t *testing.T) {
	t.Parallel()
	functions := map[string]expr.Function{}
	for _, f := range Functions() {
		functions[f.Name] = f
	}
	// Of each plane the first and last characters, of the first those that are special.
	var runes []rune
	for plane := rune(0); plane <= 0x10; plane++ {
		for r := rune(0); r <= 0x400; r++ {
			runes = append(runes, plane<<16+r, plane<<16+0xffff-r)
		}
	}
	for r := rune(0x2000); r <= 0x2100; r++ {
		runes = append(runes, r)
	}
	for _, r := range append(runes, 0xd7ff, 0xe000, 0xfffd) {
		text := "a" + string(r) + "\n" + string(r)
		v := value.Freeze(map[string]any{text: []any{text, string(r)}}, nil, value.KeepAll)
		written, err := functions["yaml.encode"].Do(nil, []value.Value{v})
		if err != nil {
			t.Fatalf("%U: %v", r, err)
		}
		again, err := functions["yaml.decode"].Do(nil, []value.Value{written})
		if err != nil || !value.IsTrue(again.Equal(v)) {
			t.Fatalf("%U: %v came back as %v: %v", r, written, value.Plain(again), err)
		}
		out, _ := value.Str(written)
		if need := functions["yaml.encode"].Needs([]value.Value{v}); need.Text < len(out) {
			t.Fatalf("%U: %d bytes, charged %d", r, len(out), need.Text)
		}
	}
}
