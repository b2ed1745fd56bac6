package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
)

// BenchmarkSmallEvaluation is what a record is held against: one condition and
// one label, evaluated for a changed object.
func BenchmarkSmallEvaluation(b *testing.B) {
	file := filepath.Join(b.TempDir(), "p.yaml")
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: example.com/v1, kind: Task}\n  rules: [{name: r, when: object.spec.size > 3, do: [{labels: {set: {large: 'yes'}}}]}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	bundle, err := source.Load([]string{file}, source.Options{})
	if err != nil || bundle.Err() != nil {
		b.Fatal(err, bundle.Err())
	}
	p, store := bundle.Policies[0], world.NewStore()
	for _, need := range readmodel.Requirements(p) {
		store.Open(need.Source, need.Mask, need.Indexes)
		object := map[string]any{"metadata": map[string]any{"name": "t"}, "spec": map[string]any{"size": int64(5)}}
		store.Put(need.Source, readmodel.Object(need.Source, object, schema.Untyped(), need.Mask))
	}
	in := eval.Input{Policy: p, Key: eval.Key{Name: "t"}, World: store.Snapshot()}
	b.ReportAllocs()
	for b.Loop() {
		eval.Evaluate(b.Context(), in, &eval.Memo{})
	}
}
