package cluster

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
)

func TestLeader(t *testing.T) {
	t.Parallel()
	named := func(name, holder string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "edict-system", Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
	}
	lease := func(holder string) *coordinationv1.Lease { return named("edict", holder) }
	podOf := func(name, app string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "edict-system", Name: name, Labels: map[string]string{"app.kubernetes.io/name": app}}}
	}
	pod := podOf("edict-7d4b9-x2x7k", "edict")
	for name, tc := range map[string]struct {
		objects []runtime.Object
		pod     string
		err     string
	}{
		"the Pod's name":                 {[]runtime.Object{lease("edict-7d4b9-x2x7k"), pod}, "edict-7d4b9-x2x7k", ""},
		"with the number of its process": {[]runtime.Object{lease("edict-7d4b9-x2x7k-1"), pod}, "edict-7d4b9-x2x7k", ""},
		"no Lease":                       {nil, "", "there is no Lease edict-system/edict"},
		"that of another release":        {[]runtime.Object{named("edict-a", "edict-7d4b9-x2x7k"), named("other", "a"), podOf("a", "other"), pod}, "edict-7d4b9-x2x7k", ""},
		"those of others":                {[]runtime.Object{named("other", "a"), podOf("a", "other")}, "", "there is no Lease edict-system/edict"},
		"those of two releases":          {[]runtime.Object{named("edict-b", "edict-7d4b9-x2x7k"), named("edict-a", "b"), podOf("b", "edict"), pod}, "", "several others are held: edict-a, edict-b (choose one by --lease)"},
		"nobody holds it":                {[]runtime.Object{lease(""), pod}, "", "nobody holds the Lease edict-system/edict"},
		"a process in no Pod":            {[]runtime.Object{lease("laptop-4711"), pod}, "", "in a Pod of the namespace edict-system: the Lease edict is held by laptop-4711"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Leader(t.Context(), fake.NewClientset(tc.objects...), Lease{Namespace: "edict-system", Name: "edict"})
			if got != tc.pod || (err != nil) != (tc.err != "") || err != nil && (!errors.Is(err, ErrNoLeader) || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

type answers struct{}

func (answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok"))}, nil
}

// TestReadOnly: whatever a command does by mistake, no request leaves it that changes
// something.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for method, sent := range map[string]bool{
		http.MethodGet: true, http.MethodHead: true,
		http.MethodPost: false, http.MethodPut: false, http.MethodPatch: false, http.MethodDelete: false, "WHATEVER": false,
	} {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/api/v1/nodes/a", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (readOnly{answers{}}).RoundTrip(request)
		if response != nil {
			response.Body.Close()
		}
		if (err == nil) != sent {
			t.Errorf("%s: %v", method, err)
		}
	}
}
