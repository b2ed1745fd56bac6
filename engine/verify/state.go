package verify

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/edict-dev/edict/engine/simulate"
)

// digest identifies a state, or what is left of one at its end.
type digest [16]byte

// stateOf returns the digest of all that what comes next depends on. Times count by
// how far they are from now.
func stateOf(sim *simulate.Simulation) digest {
	var b bytes.Buffer
	writeObjects(&b, sim.Objects(), offsets{now: sim.Now()})
	for _, w := range sim.Pending() {
		fmt.Fprintln(&b, "pending", w)
	}
	kept(&b, sim)
	sim.Timers(func(w simulate.Work, at time.Time) { fmt.Fprintln(&b, "due", w, at.Sub(sim.Now())) })
	return sum(b.Bytes())
}

// kept writes what the processes have in memory, and reports whether there is any.
func kept(w io.Writer, sim *simulate.Simulation) (some bool) {
	for _, c := range sim.Group().Controllers() {
		if c.Kept(w, sim.Now()) {
			some = true
		}
	}
	return some
}

// endOf returns the digest of some objects alone, without times.
func endOf(objects []simulate.Object) digest {
	var b bytes.Buffer
	writeObjects(&b, objects, offsets{})
	return sum(b.Bytes())
}

func sum(text []byte) (d digest) {
	all := sha256.Sum256(text)
	copy(d[:], all[:])
	return d
}

// offsets writes times as offsets to now; a zero one writes all of them alike.
type offsets struct{ now time.Time }

func (o offsets) text(text string) string {
	if len(text) < len("2006-01-02T15:04:05Z") || text[4] != '-' || text[10] != 'T' {
		return text
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return text
	case o.now.IsZero():
		return "(a time)"
	}
	return at.Sub(o.now).String()
}

// uncounted are fields of metadata that say how an object came to be, not what it is.
var uncounted = []string{"resourceVersion", "uid", "managedFields", "generation"}

func writeObjects(b *bytes.Buffer, objects []simulate.Object, o offsets) {
	for _, object := range objects {
		meta, _ := object["metadata"].(simulate.Object)
		generation, _ := meta["generation"].(int64)
		w := writer{b: b, times: o, generation: generation}
		w.object(object)
		b.WriteByte('\n')
	}
}

// writer writes one object.
type writer struct {
	b          *bytes.Buffer
	times      offsets
	generation int64
	// items counts the items of lists that it is in: an empty field of one may say something.
	items int
}

// empty reports whether the value of a field counts as absent.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case simulate.Object:
		for _, inner := range v {
			if !empty(inner) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

func (w *writer) object(m simulate.Object) {
	w.b.WriteByte('{')
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(uncounted, name) || w.items == 0 && empty(m[name]) {
			continue
		}
		w.b.WriteString(strconv.Quote(name))
		w.b.WriteByte(':')
		if n, ok := m[name].(int64); ok && name == "observedGeneration" {
			fmt.Fprint(w.b, "behind ", w.generation-n) // generations only count
			continue
		}
		w.value(m[name])
	}
	w.b.WriteByte('}')
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case simulate.Object:
		w.object(v)
	case []any:
		w.b.WriteByte('[')
		w.items++
		for _, item := range v {
			w.value(item)
			w.b.WriteByte(',')
		}
		w.items--
		w.b.WriteByte(']')
	case string:
		w.b.WriteString(strconv.Quote(w.times.text(v)))
	default:
		fmt.Fprint(w.b, v)
	}
}
