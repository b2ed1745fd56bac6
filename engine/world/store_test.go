package world

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

var (
	pods  = Source{GVK: schema.GVK{APIVersion: "v1", Kind: "Pod"}}
	nodes = Source{GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}}
)

// pod makes a Pod on a node, in a version.
func pod(name, node, version string) *Object {
	v := value.Freeze(map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"nodeName": node}}, nil, value.KeepAll)
	return NewObject(MustIdentify(pods.GVK, "ns", name), "uid-"+name, v.(*value.Map), Version{ResourceVersion: version, Generation: 1})
}

func byNode(o *Object) []string { return []string{value.StringAt(o.Value, "spec", "nodeName")} }

// store makes a store of Pods that are found by their node.
func store(objects ...*Object) *Store {
	s := NewStore()
	s.Open(pods, value.KeepAll, map[string]IndexFunc{"node": byNode})
	for _, o := range objects {
		s.Put(pods, o)
	}
	return s
}

func named(list []*Object) []string {
	out := []string{}
	for _, o := range list {
		out = append(out, o.Name)
	}
	return out
}

func TestPutAndDelete(t *testing.T) {
	t.Parallel()
	s := store()
	first := pod("a", "n1", "1")
	if old, now := s.Put(pods, first); old != nil || now != first {
		t.Errorf("a new object: %v, %v", old, now)
	}
	second := pod("a", "n2", "2")
	if old, now := s.Put(pods, second); old != first || now != second {
		t.Errorf("a changed object: %v, %v", old, now)
	}
	if got := s.Snapshot().Table(pods).Get("ns", "a"); got != second || got.Version().ResourceVersion != "2" {
		t.Errorf("it is %v", got)
	}
	if old := s.Delete(pods, "ns", "a"); old != second {
		t.Errorf("deleted was %v", old)
	}
	if old := s.Delete(pods, "ns", "a"); old != nil || s.Snapshot().Table(pods).Get("ns", "a") != nil {
		t.Error("it is deleted twice")
	}
}

// TestPutWithNothingChanged: an update that touches nothing that is kept is no
// change. Only the version moves on, so that writes are based on the newest.
func TestPutWithNothingChanged(t *testing.T) {
	t.Parallel()
	first := pod("a", "n1", "1")
	s := store(first)
	before := s.Snapshot()
	old, now := s.Put(pods, pod("a", "n1", "2"))
	if old != first || now != first || s.Snapshot() != before {
		t.Errorf("got %v, %v", old, now)
	}
	if first.Version().ResourceVersion != "2" {
		t.Errorf("the version is %v", first.Version())
	}
}

// TestPutShares: what an update did not touch keeps its identity.
func TestPutShares(t *testing.T) {
	t.Parallel()
	first := pod("a", "n1", "1")
	s := store(first)
	_, now := s.Put(pods, pod("a", "n2", "2"))
	if value.Path(now.Value, "metadata") != value.Path(first.Value, "metadata") {
		t.Error("the metadata is a copy")
	}
	if first.Version().ResourceVersion != "1" || value.StringAt(first.Value, "spec", "nodeName") != "n1" {
		t.Error("the former state has changed")
	}
}

// TestPutOfAnother: an object that was deleted and made anew is another one,
// even if it looks the same.
func TestPutOfAnother(t *testing.T) {
	t.Parallel()
	first := pod("a", "n1", "1")
	s := store(first)
	second := pod("a", "n1", "2")
	second.UID = "another"
	if old, now := s.Put(pods, second); old != first || now != second || first.Version().ResourceVersion != "1" {
		t.Errorf("got %v, %v", old, now)
	}
}

// TestSnapshotsAreFrozen: what happens later does not show in them.
func TestSnapshotsAreFrozen(t *testing.T) {
	t.Parallel()
	s := store(pod("a", "n1", "1"), pod("b", "n1", "1"))
	before := s.Snapshot().Table(pods)
	s.Put(pods, pod("a", "n2", "2"))
	s.Put(pods, pod("c", "n1", "1"))
	s.Delete(pods, "ns", "b")
	after := s.Snapshot().Table(pods)
	got := map[string][]string{
		"all before": named(before.All()), "n1 before": named(before.Lookup("node", "n1")), "n2 before": named(before.Lookup("node", "n2")),
		"all after": named(after.All()), "n1 after": named(after.Lookup("node", "n1")), "n2 after": named(after.Lookup("node", "n2")),
	}
	want := map[string][]string{
		"all before": {"a", "b"}, "n1 before": {"a", "b"}, "n2 before": {}, "all after": {"a", "c"}, "n1 after": {"c"}, "n2 after": {"a"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if value.StringAt(before.Get("ns", "a").Value, "spec", "nodeName") != "n1" || before.Get("ns", "c") != nil {
		t.Error("the former objects have changed")
	}
}

func TestAllIsSorted(t *testing.T) {
	t.Parallel()
	s := store()
	for _, name := range []string{"m", "a", "z", "b"} {
		s.Put(pods, pod(name, "n1", "1"))
	}
	other := pod("a", "n1", "1")
	other = NewObject(MustIdentify(other.GVK, "another", "a"), other.UID, other.Value, other.Version())
	s.Put(pods, other)
	table := s.Snapshot().Table(pods)
	want := []string{"a", "a", "b", "m", "z"}
	if !slices.Equal(named(table.All()), want) || !slices.Equal(named(table.Lookup("node", "n1")), want) || table.All()[0] != other {
		t.Errorf("got %v and %v", named(table.All()), named(table.Lookup("node", "n1")))
	}
}

// TestIndexesOfSeveralKeys follow an object whose keys change one by one.
func TestIndexesOfSeveralKeys(t *testing.T) {
	t.Parallel()
	s := NewStore()
	s.Open(pods, value.KeepAll, map[string]IndexFunc{"letters": func(o *Object) []string {
		var out []string
		for _, r := range value.StringAt(o.Value, "spec", "nodeName") {
			out = append(out, string(r))
		}
		return out
	}})
	for _, step := range []struct{ keys, a, b, c string }{{"ab", "p", "p", ""}, {"bc", "", "p", "p"}, {"", "", "", ""}, {"aa", "p", "", ""}, {"abc", "p", "p", "p"}} {
		s.Put(pods, pod("p", step.keys, step.keys))
		table := s.Snapshot().Table(pods)
		for key, want := range map[string]string{"a": step.a, "b": step.b, "c": step.c} {
			if got := named(table.Lookup("letters", key)); len(got) > 1 || strings.Join(got, "") != want {
				t.Errorf("of %q under %s is %v, want %q", step.keys, key, got, want)
			}
		}
	}
	s.Delete(pods, "ns", "p")
	if got := s.Snapshot().Table(pods).Lookup("letters", "a"); len(got) > 0 {
		t.Errorf("a deleted object is found: %v", named(got))
	}
}

// TestOpenAgain: a policy that comes later adds its fields and indexes.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	s := NewStore()
	s.Open(pods, &value.Mask{Fields: map[string]*value.Mask{"a": {}}}, nil)
	s.Put(pods, pod("p", "n1", "1"))
	if s.Snapshot().Table(pods).Has("node") {
		t.Error("there is an index that nobody asked for")
	}
	s.Open(pods, &value.Mask{Fields: map[string]*value.Mask{"b": {}}}, map[string]IndexFunc{"node": byNode})
	if got := named(s.Snapshot().Table(pods).Lookup("node", "n1")); !slices.Equal(got, []string{"p"}) {
		t.Errorf("what was there is not indexed: %v", got)
	}
	want := &value.Mask{Fields: map[string]*value.Mask{"a": {}, "b": {}}}
	if diff := cmp.Diff(want, s.Mask(pods)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOfAnUnknownSource: nothing is there, and nothing can be put there.
func TestOfAnUnknownSource(t *testing.T) {
	t.Parallel()
	s := store(pod("a", "n1", "1"))
	table := s.Snapshot().Table(nodes)
	if table.Get("", "a") != nil || table.All() != nil || table.Lookup("node", "n1") != nil || table.Has("node") || s.Mask(nodes) != nil {
		t.Error("a source that nobody opened has something")
	}
	if old, now := s.Put(nodes, pod("a", "n1", "1")); old != nil || now != nil || s.Delete(nodes, "ns", "a") != nil {
		t.Error("an object was put where nobody looks")
	}
	if (*Snapshot)(nil).Table(pods) != nil {
		t.Error("no snapshot has a table")
	}
}

func TestCloseForgets(t *testing.T) {
	t.Parallel()
	s := store(pod("a", "n1", "1"))
	before := s.Snapshot()
	s.Close(pods)
	if s.Snapshot().Table(pods) != nil || s.Mask(pods) != nil {
		t.Error("a closed source is still there")
	}
	if before.Table(pods).Get("ns", "a") == nil {
		t.Error("an older snapshot has lost it, too")
	}
}

// TestSince tells what changed after a mark, as long as the log goes back.
func TestSince(t *testing.T) {
	t.Parallel()
	s := store(pod("a", "n1", "1"))
	mark := s.Snapshot().Table(pods).Mark()
	since := func() []string {
		changed, ok := s.Snapshot().Table(pods).Since(mark)
		if !ok {
			return nil
		}
		out := []string{}
		for _, c := range changed {
			out = append(out, c.Name)
		}
		return out
	}
	steps := []struct {
		do   func()
		want []string
	}{
		{func() {}, []string{}},
		{func() { s.Put(pods, pod("b", "n1", "1")) }, []string{"b"}},
		{func() { s.Put(pods, pod("b", "n1", "2")) }, []string{"b"}}, // nothing that is kept has changed
		{func() { s.Put(pods, pod("a", "n2", "2")) }, []string{"b", "a"}},
		{func() { s.Delete(pods, "ns", "b") }, []string{"b", "a", "b"}},
	}
	for i, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, since()); diff != "" {
			t.Errorf("after step %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestSinceIsBounded: a mark that is too old cannot be answered, and no answer
// is ever short.
func TestSinceIsBounded(t *testing.T) {
	t.Parallel()
	s := store()
	mark := s.Snapshot().Table(pods).Mark()
	for i := range 2 * logSize {
		s.Put(pods, pod("a", fmt.Sprint("n", i), fmt.Sprint(i)))
		changed, ok := s.Snapshot().Table(pods).Since(mark)
		if ok != (i < logSize/2) || ok && len(changed) != i+1 {
			t.Fatalf("after %d changes: %d, %v", i+1, len(changed), ok)
		}
	}
}

// TestSinceOfAnotherTable: marks of other tables, and of later versions, tell
// nothing.
func TestSinceOfAnotherTable(t *testing.T) {
	t.Parallel()
	s, other := store(pod("a", "n1", "1")), store(pod("a", "n1", "1"))
	table := s.Snapshot().Table(pods)
	if _, ok := table.Since(other.Snapshot().Table(pods).Mark()); ok {
		t.Error("a mark of another table is answered")
	}
	s.Put(pods, pod("a", "n2", "2"))
	if _, ok := table.Since(s.Snapshot().Table(pods).Mark()); ok {
		t.Error("a mark of a later version is answered")
	}
	if _, ok := table.Since(Mark{}); ok {
		t.Error("a mark of no table is answered")
	}
	s.Close(pods)
	s.Open(pods, value.KeepAll, nil)
	if _, ok := s.Snapshot().Table(pods).Since(table.Mark()); ok {
		t.Error("a mark from before the source was closed is answered")
	}
}

// TestManyAtOnce: readers see whole states while writers go on.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := store()
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				table := s.Snapshot().Table(pods)
				indexed := len(table.Lookup("node", "n0")) + len(table.Lookup("node", "n1"))
				if indexed != len(table.All()) {
					t.Errorf("%d objects, %d of them indexed", len(table.All()), indexed)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for i := range 200 {
				name := fmt.Sprint(w, "-", i%10)
				if i%3 == 2 {
					s.Delete(pods, "ns", name)
				} else {
					s.Put(pods, pod(name, fmt.Sprint("n", i%2), fmt.Sprint(i)))
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}
