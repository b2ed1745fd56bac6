package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestNameManagers: a refusal below a list names the other managers of that list, and stays what it is.
func TestNameManagers(t *testing.T) {
	t.Parallel()
	invalid := func(path string) error {
		return apierrors.NewInvalid(kschema.GroupKind{Kind: "HookSet"}, "hooks", field.ErrorList{&field.Error{Type: field.ErrorTypeRequired, Field: path}})
	}
	managers := func() []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{
			{Manager: "edict/hooks", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:hooks":{}}}`)},
			{Manager: "ca-injector", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:hooks":{"k:{\"name\":\"b\"}":{"f:caBundle":{}}}}}`)},
			{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
		}
	}
	for name, tc := range map[string]struct {
		err   error
		names bool
	}{
		"below the list":  {invalid("spec.hooks[1].url"), true},
		"beside the list": {invalid("spec.url"), false},
		"another list":    {invalid("spec.ports[0].name"), false},
		"a conflict":      {apierrors.NewConflict(kschema.GroupResource{}, "hooks", errors.New("spec.hooks[1]")), false},
		"none":            {nil, false},
	} {
		got := NameManagers(tc.err, "hooks", managers)
		if !errors.Is(got, tc.err) || apierrors.IsInvalid(got) != apierrors.IsInvalid(tc.err) {
			t.Errorf("%s: %v", name, got)
		}
		if text := fmt.Sprint(got); strings.Contains(text, "ca-injector") != tc.names || strings.Contains(text, "kubelet") || strings.Contains(text, "edict/") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
