package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
)

func named(name string) eval.Key { return eval.Key{Name: name} }

// inOrder makes a queue with additions, w:NAME for those of a wave, and returns the order
// in which its keys are taken.
func inOrder(t *testing.T, additions string) string {
	t.Helper()
	w := &worker{order: newOrder()}
	w.queue = newQueue(t.Name(), w.order)
	defer w.queue.ShutDown()
	for one := range strings.FieldsSeq(additions) {
		if name, wave := strings.CutPrefix(one, "w:"); wave {
			w.enqueue([]eval.Key{named(name)})
		} else {
			w.queue.Add(named(one))
		}
	}
	var out []string
	for w.queue.Len() > 0 {
		key, _ := w.queue.Get()
		w.queue.Done(key)
		out = append(out, key.Name)
	}
	return strings.Join(out, " ")
}

// TestOrder: what happens overtakes a wave, and the wave gets its turns.
func TestOrder(t *testing.T) {
	t.Parallel()
	for additions, want := range map[string]string{
		"a b c":                       "a b c",
		"w:a w:b w:c":                 "a b c",
		"w:a w:b c d":                 "c d a b",
		"w:a w:b b":                   "b a", // something happens to a key of the wave
		"a w:a w:b":                   "a b", // a key that waits anyway
		"w:a w:b w:a w:b":             "a b", // two waves
		"w:a w:b b w:b":               "b a", // it stays where it is
		"w:x w:y a b c d e f g":       "a b c x d e f y g",
		"w:a w:b w:c w:d w:e w:f c e": "c e a b d f",
	} {
		if got := inOrder(t, additions); got != want {
			t.Errorf("%s: %s, want %s", additions, got, want)
		}
	}
}

// TestOrderKeepsAll: whatever is added and taken in between, each key that was added is
// taken after its last addition, and none is taken that was not added.
func TestOrderKeepsAll(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := &worker{order: newOrder()}
		w.queue = newQueue(fmt.Sprint(t.Name(), seed), w.order)
		waiting, under := map[string]bool{}, []eval.Key{}
		for range 200 {
			name := string(rune('a' + random.IntN(8)))
			switch random.IntN(5) {
			case 0, 1:
				w.queue.Add(named(name))
				waiting[name] = true
			case 2:
				w.enqueue([]eval.Key{named(name)})
				waiting[name] = true
			case 3:
				if w.queue.Len() > 0 {
					key, _ := w.queue.Get()
					if !waiting[key.Name] || slices.Contains(under, key) {
						t.Fatalf("seed %d: %s is taken, of %v", seed, key.Name, waiting)
					}
					delete(waiting, key.Name)
					under = append(under, key)
				}
			default:
				for _, key := range under {
					w.queue.Done(key)
				}
				under = nil
			}
		}
		for _, key := range under {
			w.queue.Done(key)
		}
		if w.queue.Len() != len(waiting) {
			t.Errorf("seed %d: %d wait, and should be %v", seed, w.queue.Len(), waiting)
		}
		w.queue.ShutDown()
	}
}
