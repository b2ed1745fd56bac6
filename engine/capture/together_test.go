package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/simulate"
)

// TestTogether: an object that was read from two sources has the fields of both.
func TestTogether(t *testing.T) {
	t.Parallel()
	pod := func(labels map[string]any, list ...any) simulate.Object {
		return simulate.Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "a", "labels": labels}, "spec": map[string]any{"containers": list}}
	}
	other := simulate.Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "b"}}
	got := together([]simulate.Object{
		pod(map[string]any{"x": "1"}, map[string]any{"name": "c"}), other, pod(map[string]any{"y": "2"}, map[string]any{"image": "i"}),
	})
	want := []simulate.Object{pod(map[string]any{"x": "1", "y": "2"}, map[string]any{"name": "c", "image": "i"}), other}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
