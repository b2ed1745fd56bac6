package selector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edict-dev/edict/engine/value"
)

func frozen(raw any) value.Value { return value.Freeze(raw, nil, value.KeepAll) }

// chooser picks at random, the same way every time.
type chooser struct{ *rand.Rand }

func newChooser(seed uint64) chooser {
	return chooser{rand.New(rand.NewPCG(seed, 2))}
}

func (c chooser) one(list ...string) string { return list[c.IntN(len(list))] }

func (c chooser) some(n int, list ...string) []string {
	out := []string{}
	for range c.IntN(n) + 1 {
		out = append(out, c.one(list...))
	}
	return out
}

// labels returns labels of few keys and values, so that selectors often match.
func (c chooser) labels() map[string]string {
	out := map[string]string{}
	for range c.IntN(4) {
		out[c.one("a", "b", "c", "example.com/d")] = c.one("", "1", "2", "x")
	}
	return out
}

func (c chooser) selector() *metav1.LabelSelector {
	out := &metav1.LabelSelector{}
	if c.IntN(2) == 0 {
		out.MatchLabels = c.labels()
	}
	for range c.IntN(3) {
		r := metav1.LabelSelectorRequirement{Key: c.one("a", "b", "c", "example.com/d")}
		switch r.Operator = metav1.LabelSelectorOperator(c.one("In", "NotIn", "Exists", "DoesNotExist")); r.Operator {
		case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
			r.Values = c.some(2, "", "1", "2", "x")
		}
		out.MatchExpressions = append(out.MatchExpressions, r)
	}
	return out
}

// text returns a selector as kubectl takes it, with operators that an object
// does not have.
func (c chooser) text() string {
	var parts []string
	for range c.IntN(4) {
		key := c.one("a", "b", "c", "example.com/d")
		parts = append(parts, c.one(key, "!"+key, key+"=1", key+"==x", key+"!=2", key+" in (1,x)", key+" notin (1,2)", key+">1", key+"<2", key+"="))
	}
	return strings.Join(parts, ",")
}

// TestMatchesAgrees: a selector means what apimachinery says, and an index
// finds every object that it matches.
func TestMatchesAgrees(t *testing.T) {
	t.Parallel()
	c := newChooser(1)
	for range 5000 {
		plain, want := any(nil), labels.Selector(nil)
		var err error
		if c.IntN(2) == 0 {
			object := c.selector()
			if want, err = metav1.LabelSelectorAsSelector(object); err != nil {
				t.Fatal(err)
			}
			if plain, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err != nil {
				t.Fatal(err)
			}
		} else {
			plain = c.text()
			if want, err = labels.Parse(plain.(string)); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Parse(frozen(plain))
		if err != nil {
			t.Fatalf("%v: %v", plain, err)
		}
		for range 5 {
			agree(t, s, want, c.labels())
		}
	}
}

func agree(t *testing.T, s *Selector, want labels.Selector, set map[string]string) {
	t.Helper()
	raw := map[string]any{}
	for k, v := range set {
		raw[k] = v
	}
	own := frozen(raw)
	if got := s.Matches(own); got != want.Matches(labels.Set(set)) {
		t.Fatalf("%s matches %v is %v", want, set, got)
	}
	found := slices.ContainsFunc(s.Anchors(), func(k string) bool { return slices.Contains(LabelKeys(own), k) })
	if s.Matches(own) && !found {
		t.Fatalf("%s matches %v, but of %v none is in %v", want, set, s.Anchors(), LabelKeys(own))
	}
}

// TestMatchesWithoutLabels: labels may be absent in every form.
func TestMatchesWithoutLabels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "!a": true, "a!=1": true, "a notin (1)": true, "a": false, "a=": false} {
		s, err := Parse(value.OfString(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, none := range map[string]value.Value{"empty": value.Empty, "optional and empty": value.Some(value.Empty)} {
			if s.Matches(none) != want {
				t.Errorf("%q and labels that are %s: %v", text, name, !want)
			}
			if want && !slices.ContainsFunc(s.Anchors(), func(k string) bool { return slices.Contains(LabelKeys(none), k) }) {
				t.Errorf("%q finds no object whose labels are %s", text, name)
			}
		}
	}
}

func TestEverything(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]value.Value{"empty": value.Empty, "an empty text": value.OfString(""), "empty fields": frozen(map[string]any{"matchLabels": map[string]any{}, "matchExpressions": []any{}})} {
		s, err := Parse(v)
		if err != nil || !s.Matches(frozen(map[string]any{"a": "b"})) || !s.Matches(nil) || s.String() != "" {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// TestNothing: an absent selector selects nothing, as in the API.
func TestNothing(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]value.Value{"absent": nil, "null": value.Null, "none": value.None} {
		if s, err := Parse(v); err != nil || s.Matches(frozen(map[string]any{"a": "b"})) || s.Matches(nil) || len(s.Anchors()) > 0 {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"a=1": {"a=1"}, "a in (1,2)": {"a=1", "a=2"}, "a": {"a"}, "!a": {"*"}, "a!=1": {"*"}, "": {"*"}, "a>1": {"*"},
		"b,a=1": {"a=1"}, "!b,a": {"a"}, "a!=1,b notin (2)": {"*"}, "a=1,b in (2,3)": {"a=1"},
	} {
		s, err := Parse(value.OfString(text))
		if err != nil {
			t.Fatal(err)
		}
		got := s.Anchors()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestMalformed: what is wrong is said in apimachinery's words.
func TestMalformed(t *testing.T) {
	t.Parallel()
	expression := func(fields map[string]any) any {
		return map[string]any{"matchExpressions": []any{fields}}
	}
	for name, tc := range map[string]struct {
		raw  any
		want string
	}{
		"a text":                 {"a in", "unable to parse requirement: found '' expected: '('"},
		"a key":                  {map[string]any{"matchLabels": map[string]any{"a b": "c"}}, `key: Invalid value: "a b"`},
		"a value":                {map[string]any{"matchLabels": map[string]any{"a": "b c"}}, `values[0][a]: Invalid value: "b c"`},
		"an operator":            {expression(map[string]any{"key": "a", "operator": "Is"}), `"Is" is not a valid label selector operator`},
		"In without values":      {expression(map[string]any{"key": "a", "operator": "In"}), "for 'in', 'notin' operators, values set can't be empty"},
		"Exists with values":     {expression(map[string]any{"key": "a", "operator": "Exists", "values": []any{"b"}}), "values set must be empty for exists and does not exist"},
		"an unknown field":       {map[string]any{"matchLabel": map[string]any{}}, `unknown field "matchLabel": labels are written as "app=web", or {matchLabels: {app: web}}`},
		"labels that are a list": {map[string]any{"matchLabels": []any{"a"}}, "cannot restore map from slice"},
		"a list":                 {[]any{"a"}, "a label selector is an object or a string, not list"},
		"a number":               {int64(1), "a label selector is an object or a string, not int"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second answer comes from the cache
				if _, err := Parse(frozen(tc.raw)); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
			}
		})
	}
}

// TestCacheIsBounded: selectors that nobody uses any more make room.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	for i := range 3 * maxCached {
		s, err := Parse(frozen(map[string]any{"matchLabels": map[string]any{"a": fmt.Sprint(i)}}))
		if err != nil || !s.Matches(frozen(map[string]any{"a": fmt.Sprint(i)})) {
			t.Fatalf("selector %d: %v", i, err)
		}
	}
	held := 0
	cache.Load().Range(func(any, any) bool { held++; return true })
	if held > maxCached+1 {
		t.Errorf("%d selectors are held", held)
	}
}

// TestOneSelectorIsParsedOnce: the selector of an object that did not change is
// the same.
func TestOneSelectorIsParsedOnce(t *testing.T) {
	object := frozen(map[string]any{"matchLabels": map[string]any{"a": "b"}})
	first, _ := Parse(object)
	if second, _ := Parse(object); first != second {
		t.Error("it was parsed twice")
	}
}
