package value

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/test/allocations"
)

// checkDecode compares Decode with Freeze, also with other values as what was before.
func checkDecode(t *testing.T, text []byte, before Value) {
	t.Helper()
	var raw any
	if !json.Valid(text) || utiljson.Unmarshal(text, &raw) != nil {
		_, _ = Decode(text, node, KeepAll, before) // does not panic
		return
	}
	for _, of := range []*schema.Type{nil, node, schema.Untyped()} {
		for _, mask := range []*Mask{KeepAll, fields(map[string]*Mask{"a": KeepAll, "spec": fields(map[string]*Mask{"text": {}, "at": {}})}), {Each: KeepAll}, {}, nil} {
			want := Freeze(raw, of, mask)
			if got, err := DecodeLike(text, of, mask, nil, before); err != nil || !exactly(got, want) {
				t.Fatalf("%s is decoded like %v as %v, want %v", text, Plain(before), Plain(got), Plain(want))
			}
			for i, was := range []Value{nil, before, want} {
				got, err := Decode(text, of, mask, was)
				switch {
				case err != nil:
					t.Fatalf("%s: %v", text, err)
				case !exactly(got, want):
					t.Fatalf("%s is decoded as %v, want %v", text, Plain(got), Plain(want))
				case i == 2 && !identical(got, want):
					t.Fatalf("%s: what has not changed is made anew", text)
				}
			}
		}
	}
}

func identical(a, b Value) bool {
	switch a.(type) {
	case *Map, *List:
		return a == b || Deep(a) == HolderBytes // empty
	}
	return true
}

// exactly compares types and sizes, too.
func exactly(a, b Value) bool {
	x, isMap := a.(*Map)
	y, _ := b.(*Map)
	if isMap && y != nil {
		if x.Len() != y.Len() || x.sizes != y.sizes {
			return false
		}
		for i := range x.Len() {
			k, v := x.At(i)
			l, w := y.At(i)
			if k != l || !exactly(v, w) {
				return false
			}
		}
		return true
	}
	p, isList := a.(*List)
	q, _ := b.(*List)
	if isList && q != nil {
		if p.Len() != q.Len() || p.sizes != q.sizes {
			return false
		}
		for i := range p.Len() {
			if !exactly(p.At(i), q.At(i)) {
				return false
			}
		}
		return true
	}
	return Same(a, b) && a.Type() == b.Type()
}

// randomJSON writes JSON at random, with names that repeat.
func randomJSON(r *rand.Rand, depth int) string {
	switch n := r.IntN(12); {
	case n < 4 && depth > 0:
		parts := make([]string, r.IntN(5))
		for i := range parts {
			parts[i] = fmt.Sprintf("%q: %s", []string{"a", "b", "spec", "text", "at", "times", "metadata", "creationTimestamp", "ä", "q\"uote"}[r.IntN(10)], randomJSON(r, depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case n < 6 && depth > 0:
		parts := make([]string, r.IntN(4))
		for i := range parts {
			parts[i] = randomJSON(r, depth-1)
		}
		return "[ " + strings.Join(parts, " , ") + "]"
	}
	return []string{`"x"`, `"2026-03-01T12:00:00Z"`, `""`, `"\u00e4\n"`, `"ä"`, "0", "-0", "1", "12345678901234567890", "1.5", "1e3", "1e-7", "true", "false", "null"}[r.IntN(15)]
}

// TestDecodeIsFreeze: decoding gives what freezing decoded JSON gives, and what has
// not changed is what was there before.
func TestDecodeIsFreeze(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var before Value
	for range 5000 {
		text := []byte(randomJSON(r, 4))
		checkDecode(t, text, before)
		before, _ = Decode(text, node, KeepAll, nil)
	}
}

// FuzzDecode is TestDecodeIsFreeze for any text.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`null`, `{"a":[1,2.5,"x",null,{"b":true}]}`, `{"a":1,"a":2}`, `1e400`, `-0`, `"\u0000"`, `{"a":{"a":{"a":{}}}}`, `[{"a":1},{"a":2}]`, `[{"a":1,"b":"x","spec":{}},{"a":2,"b":"y","spec":{}},{"a":3,"b":null,"spec":{}},{"a":4,"b":"y"},{"a":5,"b":"z","spec":{},"a":6}]`, `{"a`, `01`, `{"a":1}x`} {
		f.Add([]byte(seed))
	}
	before := frozen(object{"a": []any{object{"a": int64(1)}, object{"a": int64(2)}}, "spec": object{"text": "x"}})
	f.Fuzz(func(t *testing.T, text []byte) { checkDecode(t, text, before) })
}

// TestDecodeLike: texts and times that are the same in another object are not made anew.
func TestDecodeLike(t *testing.T) {
	write := func(name string) []byte {
		return fmt.Appendf(nil, `{"metadata":{"name":%q},"status":{"conditions":[{"type":"Stored","status":"True","at":"2026-03-01T12:00:00Z"},{"type":"Ready","status":"False"}]}}`, name)
	}
	like, err := Decode(write("a"), nil, KeepAll, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := write("b")
	alone := allocations.Fewest(func() { _, _ = Decode(text, nil, KeepAll, nil) })
	made := allocations.Fewest(func() { _, _ = DecodeLike(text, nil, KeepAll, nil, like) })
	if saved := alone - made; saved < 10 { // a text takes two
		t.Errorf("%v allocations, by itself %v", made, alone)
	}
	out, err := DecodeLike(text, nil, KeepAll, nil, like)
	if err != nil || !exactly(out, frozenText(t, text)) {
		t.Errorf("got %v, %v", Plain(out), err)
	}
}

// frozenText returns what Freeze makes of JSON.
func frozenText(t *testing.T, text []byte) Value {
	t.Helper()
	return frozenBy(t, text, nil, KeepAll)
}

func frozenBy(t *testing.T, text []byte, of *schema.Type, mask *Mask) Value {
	t.Helper()
	var raw any
	if err := utiljson.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	return Freeze(raw, of, mask)
}

// TestDecodeChange: of a long list in which one item has changed, one item is made.
func TestDecodeChange(t *testing.T) {
	items, write := pool(1000)
	before, err := Decode(write(), nil, KeepAll, nil)
	if err != nil {
		t.Fatal(err)
	}
	items[500] = strings.Replace(items[500], "true", "false", 1)
	text := write()
	after, err := Decode(text, nil, KeepAll, before)
	if err != nil {
		t.Fatal(err)
	}
	was, now := Path(before, "status", "nodes").(*List), Path(after, "status", "nodes").(*List)
	for i := range was.Len() {
		if same := was.At(i) == now.At(i); same != (i != 500) {
			t.Errorf("item %d: the same is %t", i, same)
		}
	}
	if got := allocations.Fewest(func() { _, _ = Decode(text, nil, KeepAll, before) }); got > 60 {
		t.Errorf("%v allocations", got)
	}
}

// TestDecodeEdits: whatever has become of a long list, it is decoded as by itself, and
// items that are as they were are those from before.
func TestDecodeEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	items, _ := pool(60)
	of, mask := schema.Untyped(), fields(map[string]*Mask{"zoneName": {}, "groups": {Each: fields(map[string]*Mask{"name": {}})}})
	var before Value
	for step := range 2000 {
		at := r.IntN(len(items))
		switch r.IntN(5) {
		case 0:
			items[at] = strings.Replace(items[at], "zone-", fmt.Sprintf("zone-%d", step), 1)
		case 1:
			if len(items) > 2*manyItems {
				items = slices.Delete(items, at, at+1)
			}
		case 2:
			items = slices.Insert(items, at, fmt.Sprintf(`{"zoneName":"z-%d","groups":[{"name":"ä%d"}]}`, step, step))
		case 3:
			items[at], items[0] = items[0], items[at]
		case 4:
			items[at] += " "
		}
		text := []byte(`[` + strings.Join(items, ", ") + `]`)
		want, err := Decode(text, of, &Mask{Each: mask}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(text, of, &Mask{Each: mask}, before)
		if err != nil || !exactly(got, want) {
			t.Fatalf("step %d: %v, want %v (%v)", step, Plain(got), Plain(want), err)
		}
		if before != nil {
			if fresh := unshared(before.(*List), got.(*List)); fresh > 4 {
				t.Fatalf("step %d: %d items are made anew", step, fresh)
			}
		}
		before = got
	}
}

// unshared counts the items of a list that are not those of another.
func unshared(old, now *List) (fresh int) {
	known := map[Value]bool{}
	for _, item := range old.Items() {
		known[item] = true
	}
	for _, item := range now.Items() {
		if !known[item] {
			fresh++
		}
	}
	return fresh
}

// pool returns the nodes of a pool, and what writes the pool as JSON.
func pool(nodes int) (items []string, write func() []byte) {
	items = make([]string, nodes)
	for i := range items {
		items[i] = fmt.Sprintf(`{"agentReady":true,"groups":[{"name":"vg-%05d-a","ready":true},{"name":"vg-%05d-b","ready":true}],"nodeName":"node-%05d","zoneName":"zone-%d"}`, i, i, i, i%3)
	}
	return items, func() []byte { return []byte(`{"status":{"nodes":[` + strings.Join(items, ",") + `]}}`) }
}

// BenchmarkDecode is an event of a pool of 5,000 nodes of which one has changed: by
// Decode with and without the pool before, and by way of maps.
func BenchmarkDecode(b *testing.B) {
	items, write := pool(5000)
	before, err := Decode(write(), nil, KeepAll, nil)
	if err != nil {
		b.Fatal(err)
	}
	items[500] = strings.Replace(items[500], "true", "false", 1)
	text := write()
	for name, do := range map[string]func() error{
		"new":     func() error { _, err := Decode(text, nil, KeepAll, nil); return err },
		"changed": func() error { _, err := Decode(text, nil, KeepAll, before); return err },
		"maps": func() error {
			var raw any
			err := utiljson.Unmarshal(text, &raw)
			Share(before, Freeze(raw, nil, KeepAll))
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
