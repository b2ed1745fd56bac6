package apiserver

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func configMap(metadata Object) Object {
	metadata["namespace"] = "ns"
	setDefault(metadata, "name", "c")
	return Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
}

// TestMetadataIsValidated: test/conformance has what kube-apiserver answers; this is what a
// reader of the error sees.
func TestMetadataIsValidated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metadata Object
		want     string
	}{
		"what is allowed": {Object{"labels": Object{"example.com/a": "b"}, "annotations": Object{"a": "b c"}}, ""},
		"a name":          {Object{"name": "A_b"}, `metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain`},
		"a label":         {Object{"labels": Object{"a": "b c"}}, `metadata.labels: Invalid value: "b c": a valid label`},
		"an annotation":   {Object{"annotations": Object{"a b": "c"}}, `metadata.annotations: Invalid value: "a b": name part must consist of`},
		"an owner":        {Object{"ownerReferences": []any{Object{"apiVersion": "v1", "kind": "Node", "name": "n"}}}, "metadata.ownerReferences[0].uid: Required value: must not be empty"},
		"a finalizer":     {Object{"finalizers": []any{"a b"}}, `metadata.finalizers: Invalid value: "a b": name part must consist of`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newTestServer().Create(configMap(tc.metadata), Options{})
			if tc.want == "" && err != nil || tc.want != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), " is invalid: "+tc.want)) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestOddMetadataMayStay: an object of a test may have metadata that kube-apiserver would
// have refused; what adds to them is not.
func TestOddMetadataMayStay(t *testing.T) {
	t.Parallel()
	s := newTestServer()
	old := configMap(Object{"name": "A_b", "labels": Object{"a": "b c"}, "finalizers": []any{"a b"}})
	s.Load(old)
	for _, step := range []struct {
		metadata Object
		refused  bool
	}{
		{Object{"labels": Object{"more": "x"}}, false},
		{Object{"annotations": Object{"more": "x"}}, false},
		{Object{"labels": Object{"more": "x y"}}, true},
		{Object{"labels": Object{"a": "c d"}}, true},
		{Object{"labels": Object{"a": nil}, "finalizers": nil}, false},
	} {
		_, err := s.Patch(ID(old), Object{"metadata": step.metadata}, Options{})
		if apierrors.IsInvalid(err) != step.refused {
			t.Errorf("%v: %v", step.metadata, err)
		}
	}
}
