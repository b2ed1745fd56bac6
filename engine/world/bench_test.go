package world

import (
	"fmt"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

// BenchmarkIndex makes an index of which most keys find most objects, as one by labels
// does: of all objects at once, and of one after the other.
func BenchmarkIndex(b *testing.B) {
	objects := make([]*Object, 10_000)
	for i := range objects {
		objects[i] = pod(fmt.Sprintf("p%05d", i), fmt.Sprint("n", i), "1")
	}
	keys := func(o *Object) []string {
		out := []string{value.StringAt(o.Value, "spec", "nodeName")}
		for i := range 14 {
			out = append(out, fmt.Sprint("label-", i))
		}
		return out
	}
	for name, asked := range map[string]bool{"at once": false, "one by one": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewStore()
				s.Open(pods, value.KeepAll, map[string]IndexFunc{"labels": keys})
				if asked {
					s.Snapshot().Table(pods).Lookup("labels", "")
				}
				for _, o := range objects {
					s.Put(pods, o)
				}
				if n := len(s.Snapshot().Table(pods).Lookup("labels", "label-1")); n != len(objects) {
					b.Fatalf("%d objects", n)
				}
			}
		})
	}
}
