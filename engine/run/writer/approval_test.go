package writer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestApprove: an approval is a patch of the subresource, of the version that was decided
// on, and returns the version that it led to.
func TestApprove(t *testing.T) {
	t.Parallel()
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPatch {
			body, _ := io.ReadAll(r.Body)
			got = r.URL.Path + "?" + r.URL.RawQuery + " " + string(body)
		}
		_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c","resourceVersion":"8"}}`)
	}))
	defer server.Close()
	gvk := kschema.GroupVersionKind{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(gvk, meta.RESTScopeRoot)
	w, err := New(&rest.Config{Host: server.URL}, server.Client(), mapper)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	body, _ := value.Freeze(map[string]any{"status": map[string]any{"conditions": []any{}}}, nil, value.KeepAll).(*value.Map)
	version, err := w.Patch(t.Context(), apply.Patch{
		Target:      world.MustIdentify(schema.GVK{APIVersion: "certificates.k8s.io/v1", Kind: gvk.Kind}, "", "c"),
		Subresource: apply.ApprovalSubresource, Body: body, ResourceVersion: "7", Policy: "p",
	})
	if err != nil || version.ResourceVersion != "8" {
		t.Errorf("got %+v, %v", version, err)
	}
	const want = `/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval?fieldManager=edict%2Fp {"metadata":{"resourceVersion":"7"},"status":{"conditions":[]}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
