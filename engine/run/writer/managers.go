package writer

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// Manager returns another field manager that has something of what a policy writes, as
// the cluster says now; "" is that there is none, or that it cannot be asked.
func (w *Writer) Manager(ctx context.Context, policy string, effects []*eval.Effect) string {
	ctx = w.As(ctx, policy)
	for _, e := range effects {
		if e.Patch == nil {
			continue
		}
		resource, err := w.Resource(e.Target.GVK())
		if err != nil {
			continue
		}
		got, err := w.client.Resource(resource).Namespace(e.Target.Namespace()).Get(ctx, e.Target.Name(), metav1.GetOptions{})
		if err != nil {
			continue
		}
		if other := otherManager(policy, e, got.ManagedFields); other != "" {
			return other
		}
	}
	return ""
}

// otherManager returns another manager that owns something of what an effect writes; ""
// is none.
func otherManager(policy string, e *eval.Effect, managers []metav1.ManagedFieldsEntry) string {
	for _, m := range managers {
		if m.Manager == apply.FieldManager+"/"+policy || m.Subresource != e.Subresource || m.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err == nil && owns(fields, e.Patch) {
			return m.Manager
		}
	}
	return ""
}

// owns reports whether a manager's fields have one that a patch writes.
func owns(fields map[string]any, body *value.Map) bool {
	for i := range body.Len() {
		key, v := body.At(i)
		under, ok := fields["f:"+key].(map[string]any)
		if !ok {
			continue
		}
		deeper, isMap := v.(*value.Map)
		if !isMap || len(under) == 0 || owns(under, deeper) {
			return true
		}
	}
	return false
}
