package run

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	webhook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// request asks about a ConfigMap, given as JSON.
func request(object string) webhook.Request {
	return webhook.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Namespace: "ns", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(object)},
	}}
}

// TestWhatIsNotJudgedPasses: the webhook never stands in the way of what it
// cannot judge, or has no say over.
func TestWhatIsNotJudgedPasses(t *testing.T) {
	t.Parallel()
	const labelled = `{"metadata":{"name":"m","namespace":"ns","labels":{"edict.dev/policy":"true"}},"data":{"a.yaml":"]"}}`
	quiet := &process{Options: Options{PolicyNamespace: "ns", Log: slog.New(slog.DiscardHandler)}}
	busy := newAdmission(quiet)
	for range reviewsUnderWay {
		busy.slots <- struct{}{}
	}
	for name, tc := range map[string]struct {
		a       *admission
		object  string
		warning string // "" is none
	}{
		"no label":               {newAdmission(quiet), `{"metadata":{"name":"m","namespace":"ns"},"data":{"a.yaml":"]"}}`, ""},
		"another label":          {newAdmission(quiet), strings.Replace(labelled, `"true"`, `"false"`, 1), ""},
		"no object":              {newAdmission(quiet), "", ""},
		"what cannot be read":    {newAdmission(quiet), "]", "it cannot be read"},
		"too many at once":       {busy, labelled, "too many others are being judged"},
		"a fault of the engine":  {newAdmission(&process{Options: quiet.Options}), labelled, "a fault of the engine"},
		"of another's namespace": {newAdmission(&process{Options: Options{PolicyNamespace: "other", Log: quiet.Log}}), labelled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			r := tc.a.Handle(ctx, request(tc.object))
			if !r.Allowed || (len(r.Warnings) > 0) != (tc.warning != "") || tc.warning != "" && !strings.Contains(r.Warnings[0], tc.warning) {
				t.Errorf("allowed %v, warnings %q; want %q", r.Allowed, r.Warnings, tc.warning)
			}
		})
	}
}

// TestPatience: the answer comes before the API server gives up.
func TestPatience(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{
		"": 4 * time.Second, "?timeout=5s": 4 * time.Second, "?timeout=1s": 800 * time.Millisecond, "?timeout=30s": 24 * time.Second,
		"?timeout=10h": 24 * time.Second, "?timeout=-1s": 4 * time.Second, "?timeout=soon": 4 * time.Second,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, WebhookPath+query, http.NoBody)
		begin := time.Now()
		deadline, ok := patient(t.Context(), r).Deadline()
		if got := deadline.Sub(begin); !ok || got < want || got > want+time.Second {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
