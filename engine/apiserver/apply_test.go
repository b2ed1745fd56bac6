package apiserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newTestServer() *Server {
	return New(schema.NewSet(schema.Builtin()), func() time.Time { return start })
}

func service(ports ...any) Object {
	return Object{"apiVersion": "v1", "kind": "Service", "metadata": Object{"namespace": "ns", "name": "s"}, "spec": Object{"ports": ports}}
}

var serviceID = world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "Service"}, "ns", "s")

// applied applies objects one after the other, and returns the last state.
func applied(t *testing.T, s *Server, manager string, objects ...Object) Object {
	t.Helper()
	var out Object
	for _, o := range objects {
		var err error
		if out, err = s.Apply(ID(o), o, Options{Manager: manager, Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestApplyRemovesWhatIsNoLongerApplied(t *testing.T) {
	t.Parallel()
	s := newTestServer()
	object := func(data Object) Object {
		return Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"namespace": "ns", "name": "c"}, "data": data}
	}
	applied(t, s, "a", object(Object{"kept": "1", "old": "1"}))
	applied(t, s, "b", object(Object{"other": "1"}))
	got := applied(t, s, "a", object(Object{"kept": "2"}))
	if diff := cmp.Diff(Object{"kept": "2", "other": "1"}, got["data"].(Object)); diff != "" {
		t.Error(diff)
	}
}

func TestApplyMergesListsByKey(t *testing.T) {
	t.Parallel()
	s := newTestServer()
	applied(t, s, "a", service(Object{"name": "http", "port": int64(80)}))
	got := applied(t, s, "b", service(Object{"name": "dns", "port": int64(53), "protocol": "UDP"}))
	want := []any{
		Object{"name": "http", "port": int64(80), "protocol": "TCP"},
		Object{"name": "dns", "port": int64(53), "protocol": "UDP"},
	}
	if diff := cmp.Diff(want, got["spec"].(Object)["ports"]); diff != "" {
		t.Error(diff)
	}
}

func TestApplyOfTheSameWritesNothing(t *testing.T) {
	t.Parallel()
	s := newTestServer()
	first := applied(t, s, "a", service(Object{"port": int64(80)}))
	again := applied(t, s, "a", service(Object{"port": int64(80)}))
	if metadata(first)["resourceVersion"] != metadata(again)["resourceVersion"] {
		t.Error("the second apply wrote")
	}
}

func TestApplyConflictsUnlessForced(t *testing.T) {
	t.Parallel()
	s := newTestServer()
	applied(t, s, "a", service(Object{"port": int64(80), "name": "a"}))
	other := service(Object{"port": int64(80), "name": "b"})
	if _, err := s.Apply(serviceID, other, Options{Manager: "b"}); !apierrors.IsConflict(err) {
		t.Errorf("without force: %v", err)
	}
	applied(t, s, "b", other)
}

// TestNullsOfMaps: a null in a map of strings or quantities is stored as the zero value of its
// Go type, and removed from a struct.
func TestNullsOfMaps(t *testing.T) {
	t.Parallel()
	quota := Object{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": Object{"namespace": "ns", "name": "q", "labels": Object{"a": nil}}, "spec": Object{"hard": Object{"pods": nil}, "scopes": nil}}
	got := applied(t, newTestServer(), "a", quota)
	if diff := cmp.Diff(Object{"hard": Object{"pods": "0"}}, got["spec"].(Object)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Object{"a": ""}, metadata(got)["labels"].(Object)); diff != "" {
		t.Error(diff)
	}
}
