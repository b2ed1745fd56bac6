package simulate

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testServer is a server whose clock stands still, and what it told.
type testServer struct {
	*server
	t       *testing.T
	changes []string
}

func newTestServer(t *testing.T) *testServer {
	s := &testServer{server: newServer(schema.NewSet(schema.Builtin()), func() time.Time { return start }), t: t}
	s.changed = func(id world.ID, old, now Object) {
		switch {
		case old == nil:
			s.changes = append(s.changes, "new "+id.Name())
		case now == nil:
			s.changes = append(s.changes, "gone "+id.Name())
		default:
			s.changes = append(s.changes, "changed "+id.Name())
		}
	}
	return s
}

func widget(name string) world.ID {
	return world.MustIdentify(schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}, "ns", name)
}

// manifest makes a Widget with further fields.
func manifest(name string, fields Object) Object {
	out := Object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": Object{"namespace": "ns", "name": name}}
	for k, v := range fields {
		if k == "metadata" {
			maps.Copy(out["metadata"].(Object), v.(Object))
			continue
		}
		out[k] = v
	}
	return out
}

// remove deletes an object as a person does.
func (s *testServer) remove(id world.ID) {
	_ = s.objects.Delete(id, apiserver.Deletion{Propagation: metav1.DeletePropagationBackground})
}

func deleting(o Object) bool { return metadata(o)["deletionTimestamp"] != nil }

// meta returns fields of an object's metadata.
func (s *testServer) meta(name string, fields ...string) []any {
	s.t.Helper()
	var out []any
	for _, f := range fields {
		out = append(out, metadata(s.objects.Get(widget(name)))[f])
	}
	return out
}

// patchOf makes a patch of plain values, nulls included.
func patchOf(o Object) *value.Map {
	out := value.Empty
	for name, field := range o {
		v := value.Null
		if inner, ok := field.(Object); ok {
			v = patchOf(inner)
		} else if field != nil {
			v = value.Freeze(field, nil, value.KeepAll)
		}
		out = out.With(name, v)
	}
	return out
}

func (s *testServer) patch(name, subresource, version string, body Object) error {
	_, err := s.Patch(s.t.Context(), apply.Patch{Target: widget(name), Subresource: subresource, ResourceVersion: version, Body: patchOf(body)})
	return err
}

func wantSame(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", nil), somebody)
	s.objects.Put(manifest("b", Object{"metadata": Object{"uid": "own", "generation": int64(7), "creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "99"}}), somebody)
	wantSame(t, "a new object", []any{"uid-fcca62d2b57e0480", int64(1), "2026-03-01T12:00:00Z", "1"}, s.meta("a", "uid", "generation", "creationTimestamp", "resourceVersion"))
	wantSame(t, "one that says who it is", []any{"own", int64(7), "2020-01-01T00:00:00Z", "2"}, s.meta("b", "uid", "generation", "creationTimestamp", "resourceVersion"))
	wantSame(t, "the changes", []string{"new a", "new b"}, s.changes)
}

// TestUIDs: an object that is made again is another one, whatever else there is.
func TestUIDs(t *testing.T) {
	t.Parallel()
	made := func(before ...string) (uids [2]any) {
		s := newTestServer(t)
		for _, name := range before {
			s.objects.Put(manifest(name, nil), somebody)
		}
		for i := range uids {
			s.objects.Put(manifest("a", nil), somebody)
			uids[i] = s.meta("a", "uid")[0]
			s.remove(widget("a"))
		}
		return uids
	}
	alone := made()
	wantSame(t, "beside others", alone, made("b", "c"))
	if alone[0] == alone[1] {
		t.Errorf("both have the uid %v", alone[0])
	}
	s := newTestServer(t) // whose first object is the second one of the other server
	s.objects.Put(manifest("a", Object{"metadata": Object{"uid": alone[1]}}), somebody)
	s.remove(widget("a"))
	s.objects.Put(manifest("a", nil), somebody)
	if again := s.meta("a", "uid")[0]; again == alone[1] {
		t.Errorf("an object that is made again has the uid %v of the one that was given", again)
	}
}

// TestFirstObjects: when they were created is not known, and until they change
// they are shown as they were given.
func TestFirstObjects(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	given := manifest("a", Object{"spec": Object{"x": int64(1)}})
	s.begin(given)
	s.begin(manifest("b", nil))
	wantSame(t, "what the server adds", []any{"uid-fcca62d2b57e0480", int64(1), nil, "1"}, s.meta("a", "uid", "generation", "creationTimestamp", "resourceVersion"))
	wantSame(t, "what is shown", []Object{given, manifest("b", nil)}, s.shown())
	if err := s.patch("a", "", "", Object{"metadata": Object{"labels": Object{"l": "m"}}}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "what is shown after a change", "3", metadata(s.shown()[0])["resourceVersion"])
}

// TestGenerations move with the spec, and with nothing else.
func TestGenerations(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", Object{"spec": Object{"x": int64(1)}, "data": Object{"k": "v"}}), somebody)
	for i, step := range []struct {
		subresource string
		body        Object
		generation  int64
		version     string
	}{
		{"", Object{"metadata": Object{"labels": Object{"l": "m"}}}, 1, "2"},
		{"status", Object{"status": Object{"phase": "Ready"}}, 1, "3"},
		{"", Object{"spec": Object{"x": int64(2)}}, 2, "4"},
		{"", Object{"data": Object{"k": "w"}}, 3, "5"},
		{"", Object{"spec": Object{"x": nil}}, 4, "6"},
	} {
		if err := s.patch("a", step.subresource, "", step.body); err != nil {
			t.Fatal(err)
		}
		wantSame(t, "after step "+string(rune('0'+i)), []any{step.generation, step.version}, s.meta("a", "generation", "resourceVersion"))
	}
}

// TestNothingChanged: a write that changes nothing moves no version and wakes
// nobody.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", Object{"spec": Object{"x": int64(1)}, "status": Object{"phase": "Ready"}}), somebody)
	s.changes = nil
	for _, err := range []error{
		s.patch("a", "", "", Object{"spec": Object{"x": int64(1)}}), s.patch("a", "status", "", Object{"status": Object{"phase": "Ready"}}),
		s.patch("a", "", "", Object{}), s.patch("a", "", "", Object{"spec": Object{"y": nil}}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	s.objects.Put(manifest("a", Object{"spec": Object{"x": int64(1)}}), somebody)
	wantSame(t, "the version", []any{"1", int64(1)}, s.meta("a", "resourceVersion", "generation"))
	wantSame(t, "the changes", []string(nil), s.changes)
}

// TestStatusIsASubresource: neither of the two writes touches the other's part.
func TestStatusIsASubresource(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", Object{"spec": Object{"x": int64(1)}, "status": Object{"phase": "Pending"}}), somebody)
	body := Object{"spec": Object{"x": int64(2)}, "status": Object{"phase": "Ready"}, "metadata": Object{"labels": Object{"l": "m"}}}
	if err := s.patch("a", "status", "", body); err != nil {
		t.Fatal(err)
	}
	o := s.objects.Get(widget("a"))
	wantSame(t, "after a write of the status", []any{Object{"x": int64(1)}, Object{"phase": "Ready"}, nil}, []any{o["spec"], o["status"], metadata(o)["labels"]})
	if err := s.patch("a", "", "", Object{"spec": Object{"x": int64(3)}, "status": nil}); err != nil {
		t.Fatal(err)
	}
	o = s.objects.Get(widget("a"))
	wantSame(t, "after another write", []any{Object{"x": int64(3)}, Object{"phase": "Ready"}}, []any{o["spec"], o["status"]})
	if err := s.patch("a", "status", "", Object{"status": Object{"phase": nil}}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "after a removal", Object{}, s.objects.Get(widget("a"))["status"])
}

func TestPutReplaces(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", Object{"metadata": Object{"labels": Object{"l": "m"}}, "spec": Object{"x": int64(1), "y": int64(1)}, "status": Object{"phase": "Ready"}}), somebody)
	s.objects.Put(manifest("a", Object{"spec": Object{"x": int64(1)}}), somebody)
	o := s.objects.Get(widget("a"))
	wantSame(t, "the object", []any{Object{"x": int64(1)}, Object{"phase": "Ready"}, nil}, []any{o["spec"], o["status"], metadata(o)["labels"]})
	wantSame(t, "its identity", []any{"uid-fcca62d2b57e0480", int64(2), "2"}, s.meta("a", "uid", "generation", "resourceVersion"))
	s.objects.Put(manifest("a", Object{"metadata": Object{"uid": "other"}, "spec": Object{"x": int64(1)}, "status": Object{"phase": "Failed"}}), somebody)
	wantSame(t, "a status that is given", Object{"phase": "Failed"}, s.objects.Get(widget("a"))["status"])
	wantSame(t, "its identity", []any{"uid-fcca62d2b57e0480", int64(2)}, s.meta("a", "uid", "generation"))
}

// TestGivenManifestsAreNotKept: what the caller does with them later does not
// show.
func TestGivenManifestsAreNotKept(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	o := manifest("a", Object{"spec": Object{"x": int64(1)}})
	s.objects.Put(o, somebody)
	o["spec"].(Object)["x"] = int64(2)
	wantSame(t, "the spec", Object{"x": int64(1)}, s.objects.Get(widget("a"))["spec"])
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", nil), somebody)
	body := Object{"spec": Object{"x": int64(1)}}
	if err := s.patch("a", "", "7", body); !apierrors.IsConflict(err) {
		t.Errorf("another version: %v", err)
	}
	if err := s.patch("a", "", "1", body); err != nil {
		t.Errorf("the same version: %v", err)
	}
	if err := s.patch("a", "", "1", Object{"spec": Object{"x": int64(2)}}); !apierrors.IsConflict(err) {
		t.Errorf("the former version: %v", err)
	}
	if err := s.patch("nothing", "", "", body); !apierrors.IsNotFound(err) {
		t.Errorf("no object: %v", err)
	}
	wantSame(t, "the spec", Object{"x": int64(1)}, s.objects.Get(widget("a"))["spec"])
}

func TestPatchGivesTheVersion(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", nil), somebody)
	version, err := s.Patch(t.Context(), apply.Patch{Target: widget("a"), Body: patchOf(Object{"spec": Object{"x": int64(1)}})})
	if err != nil || version != (world.Version{ResourceVersion: "2", Generation: 2}) {
		t.Errorf("got %v, %v", version, err)
	}
}

// TestFinalizers: an object goes when the last of them is gone.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", Object{"metadata": Object{"finalizers": []any{"x", "y"}}}), somebody)
	s.changes = nil
	s.remove(widget("a"))
	s.remove(widget("a"))
	wantSame(t, "it is being deleted", []any{"2026-03-01T12:00:00Z", "2"}, s.meta("a", "deletionTimestamp", "resourceVersion"))
	if err := s.patch("a", "", "", Object{"metadata": Object{"finalizers": []any{"y"}}}); err != nil {
		t.Fatal(err)
	}
	s.objects.Put(manifest("a", Object{"metadata": Object{"finalizers": []any{"y"}}, "spec": Object{"x": int64(1)}}), somebody)
	wantSame(t, "a replacement keeps that", []any{"2026-03-01T12:00:00Z"}, s.meta("a", "deletionTimestamp"))
	if err := s.patch("a", "", "", Object{"metadata": Object{"finalizers": nil}}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the changes", []string{"changed a", "changed a", "changed a", "gone a"}, s.changes)
	if err := s.patch("a", "", "", Object{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
	s.remove(widget("a")) // what is gone may be deleted again
}

// TestOwnersAndChildren: the children of an object go with it, unless another
// owner keeps them.
func TestOwnersAndChildren(t *testing.T) {
	t.Parallel()
	owners := func(uids ...string) Object {
		var list []any
		for _, uid := range uids {
			list = append(list, Object{"uid": uid})
		}
		return Object{"ownerReferences": list}
	}
	s := newTestServer(t)
	s.objects.Put(manifest("a", nil), somebody)
	s.objects.Put(manifest("b", nil), somebody)
	uidOf := func(name string) string {
		uid, _ := metadata(s.objects.Get(widget(name)))["uid"].(string)
		return uid
	}
	held := owners(uidOf("a"))
	held["finalizers"] = []any{"x"}
	for name, m := range map[string]Object{"child": owners(uidOf("a")), "shared": owners(uidOf("a"), uidOf("b")), "held": held, "stranger": owners("other"), "orphan": {}} {
		s.objects.Put(manifest(name, Object{"metadata": m}), somebody)
	}
	s.objects.Put(manifest("grandchild", Object{"metadata": owners(uidOf("child"))}), somebody)
	s.remove(widget("a"))
	for name, there := range map[string]bool{"a": false, "b": true, "child": false, "grandchild": false, "shared": true, "held": true, "stranger": true, "orphan": true} {
		if ok := s.objects.Get(widget(name)) != nil; ok != there {
			t.Errorf("%s is there: %v", name, ok)
		}
	}
	if !deleting(s.objects.Get(widget("held"))) || deleting(s.objects.Get(widget("shared"))) {
		t.Error("a child with a finalizer is deleted, one with another owner is not")
	}
}

// TestFaults: writes fail as they are told to, as often, and no others.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", nil), somebody)
	s.objects.Put(manifest("b", nil), somebody)
	s.faults = []*Fault{{Verb: "patch", Name: "a", Times: 2}, {Kind: "Widget", Name: "b", Times: 1, Code: 409}, {Verb: "event", Times: 1, Code: 404}, {Kind: "Gadget", Times: 9}, {Verb: "approve", Times: 1, Code: 409}}
	write := func(name string) error { return s.patch(name, "", "", Object{"spec": Object{"x": int64(1)}}) }
	first, second, third := write("a"), write("a"), write("a")
	if first == nil || second == nil || third != nil || apierrors.ReasonForError(first) == "NotFound" {
		t.Errorf("a: %v, %v, %v", first, second, third)
	}
	if err := write("b"); !apierrors.IsConflict(err) {
		t.Errorf("b: %v", err)
	}
	if err := write("b"); err != nil {
		t.Errorf("b again: %v", err)
	}
	if err := s.patch("a", apply.ApprovalSubresource, "", Object{}); !apierrors.IsConflict(err) {
		t.Errorf("an approval: %v", err)
	}
	if err := s.Event(t.Context(), apply.Event{Target: widget("a")}); !apierrors.IsNotFound(err) {
		t.Errorf("an event: %v", err)
	}
	if err := s.Event(t.Context(), apply.Event{Target: widget("a")}); err != nil {
		t.Errorf("the next event: %v", err)
	}
}

func TestListIsSorted(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	for _, name := range []string{"b", "c", "a"} {
		s.objects.Put(manifest(name, nil), somebody)
	}
	s.objects.Put(Object{"apiVersion": "v1", "kind": "Pod", "metadata": Object{"name": "z"}}, somebody)
	s.objects.Put(Object{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": Object{"name": "z"}}, somebody)
	s.objects.Put(Object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": Object{"name": "z", "namespace": "a"}}, somebody)
	var got []string
	for _, o := range s.objects.List() {
		got = append(got, o["kind"].(string)+" "+metadata(o)["name"].(string))
	}
	wantSame(t, "the order", []string{"Gadget z", "Widget z", "Widget a", "Widget b", "Widget c", "Pod z"}, got)
}

// TestNumbersStayWhole: what goes through a patch keeps its integers.
func TestNumbersStayWhole(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.objects.Put(manifest("a", Object{"spec": Object{"x": int64(9007199254740993), "f": 1.5, "list": []any{int64(1)}}}), somebody)
	if err := s.patch("a", "", "", Object{"spec": Object{"y": int64(2)}}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the spec", Object{"x": int64(9007199254740993), "y": int64(2), "f": 1.5, "list": []any{int64(1)}}, s.objects.Get(widget("a"))["spec"])
}
