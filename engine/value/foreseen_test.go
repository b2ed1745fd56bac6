package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/test/allocations"
)

// oddItem writes an object that is like others, and often differs in one thing.
func oddItem(r *rand.Rand, depth int) string {
	parts := []string{
		fmt.Sprintf(`"a":"%d"`, r.IntN(5)), `"at":"2026-03-01T12:00:00Z"`, fmt.Sprintf(`"hidden":[%d,"]"]`, r.IntN(2)), `"ready":true`,
		fmt.Sprintf(`"text":%d`, r.IntN(3)), `"z":[{"a":1,"b":"x"},{"a":2,"b":"x"}]`,
	}
	if depth > 0 {
		parts = append(parts, `"inner":`+oddItem(r, depth-1))
	}
	at := r.IntN(len(parts))
	switch r.IntN(16) {
	case 0:
		parts[at], parts[0] = parts[0], parts[at]
	case 1:
		parts = append(parts[:at:at], parts[at+1:]...)
	case 2:
		parts = append(parts, parts[at])
	case 3:
		parts[at] = `"extra":1`
	case 4:
		parts = append(parts, `"extra":null`, `"ready":null`)
	case 5:
		parts[at] = `"ready":null`
	case 6:
		parts[at] = " " + parts[at] + "\n"
	case 7:
		parts[at] = `"\u0061":"escaped"`
	case 8:
		parts = append(parts, `"text":null`, `"text":7`)
	case 9:
		return "null"
	case 10:
		return "{ }"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// TestDecodeForeseen: items that are like the ones before, or not quite, are decoded as
// each by itself.
func TestDecodeForeseen(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	shown := fields(map[string]*Mask{"a": {}, "at": {}, "ready": {}, "text": {}, "z": KeepAll, "inner": KeepAll})
	var before Value
	for range 300 {
		items := make([]string, r.IntN(60))
		for i := range items {
			items[i] = oddItem(r, r.IntN(3))
		}
		text := []byte("[" + strings.Join(items, ",") + "]")
		for _, mask := range []*Mask{KeepAll, {Each: shown}} {
			for _, of := range []*schema.Type{nil, schema.Untyped()} {
				want := frozenBy(t, text, of, mask)
				for _, was := range []Value{nil, before} {
					if got, err := Decode(text, of, mask, was); err != nil || !exactly(got, want) {
						t.Fatalf("%s is decoded as %v, want %v (%v)", text, Plain(got), Plain(want), err)
					}
				}
				before, _ = Decode(text, of, mask, nil)
			}
		}
	}
}

// TestDecodeSteps: of a long list of like items that has not been there, nothing is made
// but what it holds: pieces of memory, and a word for each text.
func TestDecodeSteps(t *testing.T) {
	_, write := pool(1000)
	text := write()
	if _, err := Decode(text, nil, KeepAll, nil); err != nil {
		t.Fatal(err)
	}
	texts := 3 * 1000.0
	if got := allocations.Fewest(func() { _, _ = Decode(text, nil, KeepAll, nil) }); got > texts+600 {
		t.Errorf("%v allocations for %v texts", got, texts)
	}
}
