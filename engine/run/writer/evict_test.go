package writer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// TestEvictAsksOnce: a refusal that says when to come back is returned; the worker does
// not wait in the client.
func TestEvictAsksOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method+r.URL.Path != "POST/api/v1/namespaces/n/pods/p/eviction" {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":1,"causes":[{"reason":"DisruptionBudget"}]}}`)
	}))
	defer server.Close()
	w, err := New(&rest.Config{Host: server.URL}, server.Client(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	id := world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "Pod"}, "n", "p")
	if err := w.Evict(t.Context(), apply.Deletion{Target: id}); !apierrors.IsTooManyRequests(err) || asked.Load() != 1 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
