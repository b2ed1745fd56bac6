package writer

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

func owned(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields)}
}

func labelBody(run any) *value.Map {
	return body(map[string]any{"metadata": map[string]any{"labels": map[string]any{"run": run}}})
}

func body(plain map[string]any) *value.Map {
	out := value.Empty
	for name, field := range plain {
		v := value.Null
		switch field := field.(type) {
		case map[string]any:
			v = body(field)
		case nil:
		default:
			v = value.Freeze(field, nil, value.KeepAll)
		}
		out = out.With(name, v)
	}
	return out
}

const ownsLabel = `{"f:metadata":{"f:labels":{".":{},"f:run":{}}}}`

// TestOtherManager: who else owns a field that a policy writes.
func TestOtherManager(t *testing.T) {
	t.Parallel()
	status := body(map[string]any{"status": map[string]any{"count": 1}})
	for name, tc := range map[string]struct {
		body  *value.Map
		sub   string
		owner metav1.ManagedFieldsEntry
		want  string
	}{
		"another manager":            {labelBody(""), "", owned("other", "", ownsLabel), "other"},
		"another policy":             {labelBody(""), "", owned("edict/q", "", ownsLabel), "edict/q"},
		"a label that is removed":    {labelBody(nil), "", owned("other", "", ownsLabel), "other"},
		"a status":                   {status, "status", owned("other", "status", `{"f:status":{"f:count":{}}}`), "other"},
		"itself":                     {labelBody(""), "", owned("edict/p", "", ownsLabel), ""},
		"another field":              {labelBody(""), "", owned("other", "", `{"f:metadata":{"f:labels":{"f:walk":{}}}}`), ""},
		"another subresource":        {labelBody(""), "", owned("other", "status", ownsLabel), ""},
		"nobody who can be made out": {labelBody(""), "", owned("other", "", `[`), ""},
	} {
		e := &eval.Effect{Verb: eval.VerbPatch, Subresource: tc.sub, Patch: tc.body}
		if got := otherManager("p", e, []metav1.ManagedFieldsEntry{tc.owner}); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
