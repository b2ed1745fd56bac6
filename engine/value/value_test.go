package value

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/go-cmp/cmp"
)

// TestShareKeepsIdentity: what an update did not touch is the same value
// afterwards, and what was computed from it stays valid.
func TestShareKeepsIdentity(t *testing.T) {
	t.Parallel()
	old := frozen(object{"spec": object{"a": "1", "parts": []any{object{"n": "p"}, object{"n": "q"}}}, "status": object{"b": "1"}}).(*Map)
	next := Share(old, frozen(object{"spec": object{"a": "1", "parts": []any{object{"n": "p"}, object{"n": "r"}}}, "status": object{"b": "1"}})).(*Map)
	if next == old || Path(next, "status") != Path(old, "status") || Path(next, "spec") == Path(old, "spec") {
		t.Error("only what changed may be new")
	}
	parts := func(m *Map, i int) Value { return Path(m, "spec", "parts").(*List).At(i) }
	if parts(next, 0) != parts(old, 0) || parts(next, 1) == parts(old, 1) {
		t.Error("only the item that changed may be new")
	}
}

// TestShareChangesNothing shares parts with a value that others read at the same time.
func TestShareChangesNothing(t *testing.T) {
	t.Parallel()
	old := frozen(object{"spec": object{"a": "1", "parts": []any{object{"n": "p"}, object{"n": "q"}}}, "status": object{"b": "1"}})
	next := frozen(object{"spec": object{"a": "2", "parts": []any{object{"n": "p"}, object{"n": "r"}}}, "status": object{"b": "1"}}).(*Map)
	status, item := Path(next, "status"), Path(next, "spec", "parts").(*List).At(0)
	shared := Share(old, next)
	if Path(next, "status") != status || Path(next, "spec", "parts").(*List).At(0) != item {
		t.Error("the new value has parts of the old one")
	}
	if Path(shared, "status") == status || Path(shared, "spec", "parts").(*List).At(0) == item {
		t.Error("what is shared has parts of the new value")
	}
}

func TestShareOfEqual(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]any{"an object": object{"a": object{"b": []any{"c", int64(1), nil}}}, "empty": object{}, "a list": []any{object{"a": "b"}}} {
		old := frozen(raw)
		if got := Share(old, frozen(raw)); got != old {
			t.Errorf("%s: what is equal is not the same", name)
		}
	}
}

func TestShareOfDifferent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string][2]any{
		"a field more":           {object{"a": "b"}, object{"a": "b", "c": "d"}},
		"a field less":           {object{"a": "b", "c": "d"}, object{"a": "b"}},
		"an item more":           {[]any{"a"}, []any{"a", "b"}},
		"an item less":           {[]any{"a", "b"}, []any{"a"}},
		"another sort":           {object{"a": []any{"b"}}, object{"a": object{"b": "c"}}},
		"a number of other kind": {[]any{int64(1)}, []any{1.5}},
		"a text for a number":    {object{"a": int64(1)}, object{"a": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := frozen(tc[0]), frozen(tc[1])
			before := Plain(old)
			got := Share(old, next)
			if got == old {
				t.Error("the old value is taken for the new")
			}
			if diff := cmp.Diff(tc[1], Plain(got)); diff != "" {
				t.Errorf("the new value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, Plain(old)); diff != "" {
				t.Errorf("the old value has changed:\n%s", diff)
			}
		})
	}
	if Share(nil, Empty) != Value(Empty) || Share(Empty, nil) != nil {
		t.Error("absent values")
	}
}

// TestShareOfNumbers: 1 and 1.0 are equal, but not one value.
func TestShareOfNumbers(t *testing.T) {
	t.Parallel()
	if got := Share(types.Int(1), types.Double(1)); got.Type() != types.DoubleType {
		t.Errorf("got %v", got.Type())
	}
}

// TestSettleLimits: what an expression built is walked within its limits.
func TestSettleLimits(t *testing.T) {
	t.Parallel()
	adapter := types.DefaultTypeAdapter
	half := strings.Repeat("x", MaxResultBytes/2)
	many := func(n int) ref.Val { return adapter.NativeToValue(make([]int64, n)) }
	shared := adapter.NativeToValue([]ref.Val{many(100)})
	for range 5 {
		shared = adapter.NativeToValue(slices.Repeat([]ref.Val{shared}, 10))
	}
	for name, tc := range map[string]struct {
		v    ref.Val
		want error
	}{
		"a text as long as allowed":   {types.String(half + half), nil},
		"a text too long":             {types.String(half + half + "x"), ErrResultTooLarge},
		"texts as long as allowed":    {adapter.NativeToValue([]string{half, half}), nil},
		"texts too long":              {adapter.NativeToValue([]string{half, half, "x"}), ErrResultTooLarge},
		"keys count":                  {adapter.NativeToValue(map[string]string{half: half + "x"}), ErrResultTooLarge},
		"bytes count":                 {adapter.NativeToValue([][]byte{[]byte(half), []byte(half), {1}}), ErrResultTooLarge},
		"items as many as allowed":    {many(MaxResultNodes - 1), nil},
		"too many items":              {many(MaxResultNodes), ErrResultTooLarge},
		"too many items in all":       {adapter.NativeToValue([]ref.Val{many(MaxResultNodes / 2), many(MaxResultNodes / 2)}), ErrResultTooLarge},
		"one list many times":         {shared, ErrResultTooLarge},
		"inside an optional":          {types.OptionalOf(many(MaxResultNodes)), ErrResultTooLarge},
		"keys that are no texts":      {adapter.NativeToValue(map[int64]string{1: "a"}), errors.New("a map's keys must be strings, not int")},
		"an error":                    {types.NewErr("why"), errors.New("why")},
		"an error inside":             {adapter.NativeToValue([]ref.Val{types.NewErr("why")}), errors.New("why")},
		"what is in the read model":   {frozen(slices.Repeat([]any{half}, 3)), nil},
		"a large object handed on":    {frozen(object{"a": strings.Repeat("x", 2*MaxResultBytes)}), nil},
		"an optional without a value": {types.OptionalNone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Settle(tc.v)
			if (err == nil) != (tc.want == nil) || err != nil && err.Error() != tc.want.Error() {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestSettleBuilds(t *testing.T) {
	t.Parallel()
	adapter := types.DefaultTypeAdapter
	inner := frozen(object{"x": "y"})
	v, err := Settle(adapter.NativeToValue(map[string]any{"b": []any{1, 2.5, "c", true, nil}, "a": inner, "o": types.OptionalOf(types.Int(1))}))
	if err != nil {
		t.Fatal(err)
	}
	if Path(v, "a") != inner {
		t.Error("what came from the read model was copied")
	}
	want := object{"a": object{"x": "y"}, "b": []any{int64(1), 2.5, "c", true, nil}, "o": int64(1)}
	if diff := cmp.Diff(want, Plain(v)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again, err := Settle(v); err != nil || again != v {
		t.Error("what is settled is not settled again")
	}
}

func TestPlainAndText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 1000, time.FixedZone("", 3600))
	for name, tc := range map[string]struct {
		v     Value
		plain any
		text  string // "" is an error
	}{
		"absent":           {nil, nil, ""},
		"null":             {Null, nil, ""},
		"a text":           {OfString("a"), "a", "a"},
		"a boolean":        {OfBool(true), true, "true"},
		"a number":         {OfInt(-3), int64(-3), "-3"},
		"an unsigned":      {types.Uint(3), int64(3), "3"},
		"a float":          {OfDouble(0.1), 0.1, "0.1"},
		"a large float":    {OfDouble(1e21), 1e21, "1e+21"},
		"a time":           {OfTime(at), "2026-03-01T11:00:00.000001Z", "2026-03-01T11:00:00.000001Z"},
		"a duration":       {OfDuration(90 * time.Second), "1m30s", "1m30s"},
		"bytes":            {types.Bytes("ab"), "YWI=", "YWI="},
		"none":             {None, nil, ""},
		"some":             {Some(OfInt(1)), int64(1), "1"},
		"a list":           {frozen([]any{"a"}), []any{"a"}, ""},
		"an object":        {frozen(object{"a": "b"}), object{"a": "b"}, ""},
		"an empty object":  {Empty, object{}, ""},
		"the zero objects": {&Map{}, object{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.plain, Plain(tc.v)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got, err := Text(tc.v); got != tc.text || (err != nil) != (tc.text == "") {
				t.Errorf("as a text %q, %v", got, err)
			}
		})
	}
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	const text = `{"a":[1,2.5,"x",true,{"b":{}}],"c":{"d":"ü\n\u0000","e":[]},"n":-9007199254740993}`
	var raw any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&raw); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(Plain(frozen(raw)))
	if err != nil || string(out) != text {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMapFields(t *testing.T) {
	t.Parallel()
	m := Empty
	names := []string{"m", "a", "z", "b", "k", "c", "x", "d", "y", "e", "f"}
	for i, name := range names { // more than are searched one by one
		m = m.With(name, OfInt(int64(i)))
	}
	for i, name := range names {
		if got, _ := Int(m.Lookup(name)); got != int64(i) || m.Lookup(name+"?") != nil {
			t.Errorf("%s is %d", name, got)
		}
	}
	var got []string
	for i := range m.Len() {
		name, _ := m.At(i)
		got = append(got, name)
	}
	if !slices.IsSorted(got) || len(got) != len(names) {
		t.Errorf("the names are %v", got)
	}
}

func TestMapWith(t *testing.T) {
	t.Parallel()
	m := frozen(object{"a": "1", "b": "2"}).(*Map)
	for name, tc := range map[string]struct {
		got  *Map
		want object
	}{
		"replaced":            {m.With("a", OfString("3")), object{"a": "3", "b": "2"}},
		"added":               {m.With("c", OfString("3")), object{"a": "1", "b": "2", "c": "3"}},
		"removed":             {m.With("a", nil), object{"b": "2"}},
		"removed, not there":  {m.With("c", nil), object{"a": "1", "b": "2"}},
		"the last removed":    {m.With("a", nil).With("b", nil), object{}},
		"added to the empty":  {Empty.With("a", OfString("1")), object{"a": "1"}},
		"added to the zero":   {(&Map{}).With("a", OfString("1")), object{"a": "1"}},
		"it has not changed":  {m, object{"a": "1", "b": "2"}},
		"null is not removed": {m.With("a", Null), object{"a": nil, "b": "2"}},
	} {
		if diff := cmp.Diff(tc.want, Plain(tc.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if m.With("c", nil) != m {
		t.Error("removing what is not there makes a new object")
	}
}

// TestLargeMapsOfData do not share their names, and work the same.
func TestLargeMapsOfData(t *testing.T) {
	t.Parallel()
	raw := object{}
	for i := range 3 * maxShared {
		raw[strings.Repeat("k", i+1)] = int64(i)
	}
	a, b := frozen(raw).(*Map), frozen(raw).(*Map)
	if a.Equal(b) != types.True || a.shape == b.shape {
		t.Error("large objects are equal without sharing their names")
	}
	if v, _ := Int(a.Lookup("kkk")); v != 2 {
		t.Errorf("got %d", v)
	}
}

// TestAsCELSeesThem: objects and lists behave as CEL's own.
func TestAsCELSeesThem(t *testing.T) {
	t.Parallel()
	m, l := frozen(object{"b": "2", "a": "1"}).(*Map), frozen([]any{"x", "y"}).(*List)
	if v, ok := m.Find(types.String("a")); !ok || v != OfString("1") {
		t.Error("Find of a key")
	}
	if _, ok := m.Find(types.Int(1)); ok {
		t.Error("Find of a number")
	}
	if !types.IsError(m.Get(types.String("c"))) || m.Contains(types.String("c")) != types.False || m.IsSet(types.String("a")) != types.True {
		t.Error("a key that is not there")
	}
	if !types.IsError(l.Get(types.Int(2))) || !types.IsError(l.Get(types.Int(-1))) || l.Get(types.Int(1)) != OfString("y") {
		t.Error("an index outside of the list")
	}
	if l.Contains(types.String("y")) != types.True || l.Contains(types.String("z")) != types.False {
		t.Error("Contains")
	}
	if m.Size() != types.Int(2) || l.Size() != types.Int(2) || !l.Add(frozen([]any{"z"})).(traits.Lister).Size().Equal(types.Int(3)).(types.Bool) {
		t.Error("Size and Add")
	}
	if m.IsZeroValue() || l.IsZeroValue() || !Empty.IsZeroValue() || !EmptyList.IsZeroValue() {
		t.Error("IsZeroValue")
	}
	for name, got := range map[string]ref.Val{"map": m.ConvertToType(types.MapType), "list": l.ConvertToType(types.ListType)} {
		if got != ref.Val(m) && got != ref.Val(l) {
			t.Errorf("%s to itself gives %v", name, got)
		}
	}
	if m.ConvertToType(types.TypeType) != types.MapType || !types.IsError(m.ConvertToType(types.StringType)) || l.ConvertToType(types.TypeType) != types.ListType || !types.IsError(l.ConvertToType(types.StringType)) {
		t.Error("ConvertToType")
	}
}

// TestLoopsAreSorted: whoever goes through an object meets its keys in order.
func TestLoopsAreSorted(t *testing.T) {
	t.Parallel()
	m := frozen(object{"c": "3", "a": "1", "b": "2"}).(*Map)
	var keys, folded []string
	for it := m.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, string(it.Next().(types.String)))
	}
	m.Fold(folder(func(k, v any) bool {
		folded = append(folded, string(k.(types.String))+string(v.(types.String)))
		return len(folded) < 2
	}))
	if diff := cmp.Diff([][]string{{"a", "b", "c"}, {"a1", "b2"}}, [][]string{keys, folded}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

type folder func(k, v any) bool

// FoldEntry implements traits.Folder.
func (f folder) FoldEntry(k, v any) bool { return f(k, v) }

func TestPathsAndHelpers(t *testing.T) {
	t.Parallel()
	v := frozen(object{"a": object{"b": "c", "n": int64(1)}, "l": []any{"x", int64(1), "y"}})
	if StringAt(v, "a", "b") != "c" || StringAt(v, "a", "x") != "" || StringAt(v, "a", "n") != "" || StringAt(v, "a", "b", "c") != "" || StringAt(nil, "a") != "" {
		t.Error("StringAt")
	}
	if got := Strings(Path(v, "l")); !slices.Equal(got, []string{"x", "y"}) || Strings(v) != nil {
		t.Errorf("Strings gives %v", got)
	}
	if Size(v) != 2 || Size(Path(v, "l")) != 3 || Size(OfString("abc")) != 3 || Size(OfInt(7)) != 1 || Size(nil) != 1 {
		t.Error("Size")
	}
	if Unwrap(None) != nil || Unwrap(Some(v)) != v || Unwrap(v) != v || !IsNull(nil) || !IsNull(Null) || IsNull(None) || !IsTrue(OfBool(true)) || IsTrue(OfInt(1)) {
		t.Error("Unwrap, IsNull and IsTrue")
	}
}

func TestCompareOrders(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		a, b Value
		want int
		ok   bool
	}{
		"numbers":            {OfInt(1), OfInt(2), -1, true},
		"numbers of a kind":  {OfDouble(2.5), OfInt(2), 1, true},
		"texts":              {OfString("b"), OfString("b"), 0, true},
		"times":              {OfTime(at.Add(1)), OfTime(at), 1, true},
		"durations":          {OfDuration(1), OfDuration(2), -1, true},
		"booleans":           {OfBool(false), OfBool(true), -1, true},
		"a number, a text":   {OfInt(1), OfString("1"), 0, false},
		"lists":              {EmptyList, EmptyList, 0, false},
		"something, nothing": {OfInt(1), nil, 0, false},
	} {
		if got, ok := Compare(tc.a, tc.b); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		n    int
		want string
	}{
		"short enough": {"abc", 3, "abc"}, "too long": {"abcd", 3, "abc"}, "inside of a character": {"aü", 2, "a"}, "four bytes": {"🙂🙂", 7, "🙂"},
		"to nothing": {"ü", 1, ""}, "to zero": {"abc", 0, ""}, "no text at all": {"\x80\x80\x80", 2, ""},
	} {
		if got := Cut(tc.text, tc.n); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestIdentity: equal values, and only these, have one text.
func TestIdentity(t *testing.T) {
	t.Parallel()
	list := []Value{OfString(""), OfString("a"), OfString("[]"), OfString("1"), OfInt(1), OfBool(true), Null, EmptyList, Empty, frozen([]any{"a"}), frozen(object{"a": "b"})}
	seen := map[string]Value{}
	for _, v := range list {
		id := Identity(v)
		if other, dup := seen[id]; dup {
			t.Errorf("%v and %v are both %q", v, other, id)
		}
		seen[id] = v
	}
	if Identity(frozen(object{"a": "1", "b": "2"})) != Identity(Empty.With("b", OfString("2")).With("a", OfString("1"))) {
		t.Error("equal objects are told apart")
	}
}
