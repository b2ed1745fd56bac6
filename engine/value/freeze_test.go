package value

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
)

type object = map[string]any

// frozen freezes plain JSON in full, without a type.
func frozen(raw any) Value { return Freeze(raw, nil, KeepAll) }

// fields makes a mask of fields.
func fields(m map[string]*Mask) *Mask { return &Mask{Fields: m} }

// node is a type with a field of every sort.
var node = &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{
	"metadata": schema.Metadata(),
	"spec": {Kind: schema.Object, Open: true, Fields: map[string]*schema.Type{
		"text": {Kind: schema.String}, "whole": {Kind: schema.Int}, "weight": {Kind: schema.Double}, "at": {Kind: schema.Time},
		"times": {Kind: schema.List, Elem: &schema.Type{Kind: schema.Time}}, "byName": {Kind: schema.Map, Elem: &schema.Type{Kind: schema.Time}},
	}},
}}

func TestFreezeScalars(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		raw  any
		of   *schema.Type
		want Value
	}{
		"null":                         {nil, nil, types.NullValue},
		"a text":                       {"a", nil, types.String("a")},
		"a boolean":                    {true, nil, types.True},
		"a whole number":               {int64(3), nil, types.Int(3)},
		"other whole numbers":          {int32(3), nil, types.Int(3)},
		"a float that is whole":        {3.0, nil, types.Int(3)},
		"a float":                      {3.5, nil, types.Double(3.5)},
		"a large float":                {1e300, nil, types.Double(1e300)},
		"beyond exact integers":        {float64(1 << 60), nil, types.Double(1 << 60)},
		"a number of JSON":             {json.Number("3"), nil, types.Int(3)},
		"a fraction of JSON":           {json.Number("3.5"), nil, types.Double(3.5)},
		"too large for an integer":     {json.Number("9223372036854775808"), nil, types.Double(9223372036854775808)},
		"a whole number of type float": {int64(3), &schema.Type{Kind: schema.Double}, types.Double(3)},
		"a float of type float":        {3.0, &schema.Type{Kind: schema.Double}, types.Double(3)},
		"a time":                       {"2026-03-01T12:00:00+01:00", &schema.Type{Kind: schema.Time}, types.Timestamp{Time: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)}},
		"a time that is none":          {"soon", &schema.Type{Kind: schema.Time}, types.String("soon")},
		"a text like a time":           {"2026-03-01T12:00:00Z", &schema.Type{Kind: schema.String}, types.String("2026-03-01T12:00:00Z")},
		"an unknown Go type":           {uint8(3), nil, types.String("3")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Freeze(tc.raw, tc.of, KeepAll); got.Type() != tc.want.Type() || got.Equal(tc.want) != types.True {
				t.Errorf("got %v of type %v, want %v", got, got.Type(), tc.want)
			}
		})
	}
}

// TestFreezeTypes: date-times are found by the schema, and by the names of
// fields only where there is none.
func TestFreezeTypes(t *testing.T) {
	t.Parallel()
	const at = "2026-03-01T12:00:00Z"
	raw := object{
		"metadata": object{"creationTimestamp": at, "annotations": object{"startTime": at}},
		"spec":     object{"at": at, "text": at, "times": []any{at}, "byName": object{"a": at}, "otherTime": at, "weight": int64(1), "whole": 1.0},
		"status":   object{"lastTransitionTime": at},
	}
	typed, untyped := Freeze(raw, node, KeepAll), Freeze(raw, schema.Untyped(), KeepAll)
	for path, want := range map[*[]string][2]bool{
		{"metadata", "creationTimestamp"}:        {true, true},
		{"metadata", "annotations", "startTime"}: {false, false},
		{"spec", "at"}:                           {true, false},
		{"spec", "text"}:                         {false, false},
		{"spec", "byName", "a"}:                  {true, false},
		{"spec", "otherTime"}:                    {false, true},
		{"status", "lastTransitionTime"}:         {false, true},
	} {
		for i, v := range []Value{typed, untyped} {
			if _, got := Time(Path(v, *path...)); got != want[i] {
				t.Errorf("%v of the %s object: a time is %v", *path, [...]string{"typed", "untyped"}[i], got)
			}
		}
	}
	if _, ok := Time(Path(typed, "spec", "times").(*List).At(0)); !ok {
		t.Error("a time in a list is none")
	}
	if Path(typed, "spec", "weight").Type() != types.DoubleType || Path(typed, "spec", "whole").Type() != types.IntType {
		t.Error("numbers do not have the types of the schema")
	}
}

func TestFreezeMasks(t *testing.T) {
	t.Parallel()
	raw := object{
		"metadata": object{"name": "a", "labels": object{"x": "1", "y": "2"}, "managedFields": []any{object{"a": "b"}}},
		"spec":     object{"parts": []any{object{"name": "p", "size": int64(1)}, object{"name": "q", "size": int64(2)}}, "gone": nil},
	}
	leaf := &Mask{}
	for name, tc := range map[string]struct {
		mask *Mask
		want any
	}{
		"everything":             {KeepAll, object{"metadata": raw["metadata"], "spec": object{"parts": raw["spec"].(object)["parts"]}}},
		"nothing":                {nil, object{}},
		"one field":              {fields(map[string]*Mask{"metadata": fields(map[string]*Mask{"name": leaf})}), object{"metadata": object{"name": "a"}}},
		"a field that is absent": {fields(map[string]*Mask{"status": KeepAll, "spec": fields(map[string]*Mask{"gone": leaf})}), object{"spec": object{}}},
		"a field of every item": {
			fields(map[string]*Mask{"spec": fields(map[string]*Mask{"parts": {Each: fields(map[string]*Mask{"name": leaf})}})}),
			object{"spec": object{"parts": []any{object{"name": "p"}, object{"name": "q"}}}},
		},
		"every value of a map": {
			fields(map[string]*Mask{"metadata": fields(map[string]*Mask{"labels": {Each: leaf}})}),
			object{"metadata": object{"labels": object{"x": "1", "y": "2"}}},
		},
		"one value of a map": {
			fields(map[string]*Mask{"metadata": fields(map[string]*Mask{"labels": fields(map[string]*Mask{"y": leaf})})}),
			object{"metadata": object{"labels": object{"y": "2"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, Plain(Freeze(raw, nil, tc.mask))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestMasksOfBoth: a field with a mask of its own keeps what is kept of every
// value, too.
func TestMasksOfBoth(t *testing.T) {
	t.Parallel()
	mask := &Mask{Fields: map[string]*Mask{"a": fields(map[string]*Mask{"x": {}})}, Each: fields(map[string]*Mask{"y": {}})}
	got := Plain(Freeze(object{"a": object{"x": "1", "y": "2", "z": "3"}, "b": object{"x": "1", "y": "2"}}, nil, mask))
	if diff := cmp.Diff(object{"a": object{"x": "1", "y": "2"}, "b": object{"y": "2"}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// masks are some of every form.
func masks() map[string]*Mask {
	leaf := &Mask{}
	return map[string]*Mask{
		"nothing": nil, "all": KeepAll, "leaf": leaf, "a": fields(map[string]*Mask{"a": leaf}), "b": fields(map[string]*Mask{"b": leaf}),
		"a and b": fields(map[string]*Mask{"a": leaf, "b": leaf}), "all of a": fields(map[string]*Mask{"a": KeepAll}),
		"a.c": fields(map[string]*Mask{"a": fields(map[string]*Mask{"c": leaf})}), "each": {Each: leaf}, "each a": {Each: fields(map[string]*Mask{"a": leaf})},
		"each and a": {Fields: map[string]*Mask{"a": KeepAll}, Each: leaf}, "each all": {Each: KeepAll},
	}
}

// TestMergeKeepsBoth: a merged mask keeps what either keeps, whichever comes
// first, and nothing that neither does.
func TestMergeKeepsBoth(t *testing.T) {
	t.Parallel()
	raw := object{"a": object{"c": "1", "d": "2", "a": "3"}, "b": "4", "e": object{"a": "5"}}
	for x, a := range masks() {
		for y, b := range masks() {
			both := Merge(a, b)
			if !Covers(both, a) || !Covers(both, b) {
				t.Errorf("%s and %s together do not keep each of them", x, y)
			}
			if diff := cmp.Diff(Plain(Freeze(raw, nil, both)), Plain(Freeze(raw, nil, Merge(b, a)))); diff != "" {
				t.Errorf("%s and %s depend on their order:\n%s", x, y, diff)
			}
		}
	}
	if Merge(nil, nil) != nil {
		t.Error("nothing and nothing is something")
	}
}

// TestCoversMeansKept: what a covering mask keeps of an object is enough to
// keep the other's part of it.
func TestCoversMeansKept(t *testing.T) {
	t.Parallel()
	raw := object{"a": object{"c": "1", "d": "2", "a": "3"}, "b": "4", "e": object{"a": "5"}}
	for x, a := range masks() {
		for y, b := range masks() {
			if !Covers(a, b) {
				continue
			}
			if diff := cmp.Diff(Plain(Freeze(raw, nil, b)), Plain(Freeze(Plain(Freeze(raw, nil, a)), nil, b))); diff != "" {
				t.Errorf("%s is said to cover %s:\n%s", x, y, diff)
			}
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"leaf", "a"}, {"a", "all"}, {"a.c", "all of a"}, {"each", "each a"}, {"each a", "all of a"}, {"nothing", "a"}} {
		if all := masks(); Covers(all[pair[0]], all[pair[1]]) {
			t.Errorf("%s is said to cover %s", pair[0], pair[1])
		}
	}
}

// FuzzFreeze: any JSON can be frozen, and returns the same JSON again.
func FuzzFreeze(f *testing.F) {
	for _, seed := range []string{`null`, `{"a":[1,2.5,"x",null,{"b":true}]}`, `{"metadata":{"creationTimestamp":"2026-03-01T12:00:00Z"}}`, `1e400`, `-0`, `"\u0000"`, `{"a":{"a":{"a":{}}}}`, `9223372036854775808`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var raw any
		if json.Unmarshal(text, &raw) != nil {
			t.Skip()
		}
		for _, of := range []*schema.Type{nil, node, schema.Untyped()} {
			v := Freeze(raw, of, KeepAll)
			once, err := json.Marshal(Plain(v))
			if err != nil {
				t.Fatal(err)
			}
			var again any
			if err := json.Unmarshal(once, &again); err != nil {
				t.Fatal(err)
			}
			if twice := Freeze(again, of, KeepAll); !Same(v, twice) || v.Equal(twice) != types.True {
				t.Fatalf("%s is frozen differently the second time: %s", text, once)
			}
		}
	})
}

func TestNotANumber(t *testing.T) {
	t.Parallel()
	if v := frozen(math.NaN()); v.Type() != types.DoubleType {
		t.Errorf("got %v", v)
	}
}
