package value

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// anything makes a plain value at random, of texts that are longer when they are
// written.
func anything(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "\"\\", "\x01\x02", "<&>", "é日", "\xff\xfe\xff", "line\nline\n\n", "- a: b", "  x ", "it's", "null", "12", "a very long line of words that will be folded when it is written somewhere else"}
	text := func() string { return strings.Repeat(texts[r.IntN(len(texts))], r.IntN(6)) }
	switch n := r.IntN(7); {
	case n == 0 && depth > 0:
		out := map[string]any{}
		for range r.IntN(5) {
			out[text()] = anything(r, depth-1)
		}
		return out
	case n <= 2 && depth > 0:
		out := make([]any, r.IntN(5))
		for i := range out {
			out[i] = anything(r, depth-1)
		}
		return out
	case n == 3:
		return r.Int64()
	case n == 4:
		return r.NormFloat64() * 1e300
	default:
		return text()
	}
}

// TestMeasure: nothing is written longer than it was measured.
func TestMeasure(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4)) // the same values each time
	for range 2000 {
		v := Freeze(anything(r, 6), nil, KeepAll)
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(Plain(v)); err != nil {
			t.Fatal(err)
		}
		written, err := yaml.Marshal(Plain(v))
		if err != nil {
			t.Fatal(err)
		}
		if w := Measure(v, 1<<20); w.JSON < out.Len()-1 || w.YAML < len(written) {
			t.Fatalf("measured %+v, written %d and %d bytes: %q", w, out.Len(), len(written), out.String())
		}
	}
}

// TestMeasureEnds: a value that names one part many times is not gone through.
func TestMeasureEnds(t *testing.T) {
	t.Parallel()
	v := Value(OfStrings([]string{"a", "b"}))
	for range 60 {
		v = NewList([]Value{v, v})
	}
	if w := Measure(v, 1000); w.JSON != Unmeasured || w.YAML != Unmeasured || w.Plain != Unmeasured {
		t.Errorf("%+v", w)
	}
}

// TestSizes: Deep counts all that is in a value, Built what it keeps itself.
func TestSizes(t *testing.T) {
	t.Parallel()
	part := Freeze(map[string]any{"a": strings.Repeat("x", 1000), "b": []any{"y"}}, nil, KeepAll).(*Map)
	list := NewList([]Value{part, part, part, OfString("1234")})
	if Deep(part) < 1000 || Built(part) != ScalarBytes || Weight(part) != 1 {
		t.Errorf("a part of an object: %d, %d, %d", Deep(part), Built(part), Weight(part))
	}
	if deep := 3*Deep(part) + ScalarBytes + 4 + HolderBytes; Deep(list) != deep {
		t.Errorf("a list is %d, want %d", Deep(list), deep)
	}
	if built := 4*ScalarBytes + 4 + HolderBytes; Built(list) != built {
		t.Errorf("a list keeps %d, want %d", Built(list), built)
	}
	grown := part.With("a", OfString(strings.Repeat("x", 3000)))
	if want := Deep(part) + 2000; Deep(grown) != want {
		t.Errorf("with a longer text: %d, want %d", Deep(grown), want)
	}
	if Deep(Some(list)) != Deep(list) || Built(Borrowed(NewList([]Value{part}))) != ScalarBytes || Built(Borrowed(Empty)) < 0 {
		t.Error("optional and borrowed values")
	}
	if v := Value(list); true {
		for range 64 {
			v = NewList([]Value{v, v})
		}
		if Deep(v) < 1<<31 || Weight(v) < 1<<31 {
			t.Errorf("a huge list: %d, %d", Deep(v), Weight(v))
		}
	}
}
