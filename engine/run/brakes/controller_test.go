package brakes

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// kept is a store whose cache is updated by the test.
type kept struct {
	*Store
	t       *testing.T
	indexer cache.Indexer
}

func newKept(t *testing.T, client kubernetes.Interface) *kept {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	s := &Store{client: client, namespace: "ns", log: slog.New(slog.DiscardHandler), lister: listers.NewConfigMapLister(indexer), synced: func() bool { return true }}
	return &kept{Store: s, t: t, indexer: indexer}
}

// controller returns a Controller that keeps the brakes in the store.
func (k *kept) controller() *Controller {
	return New(Options{
		Store: k.Store, Log: k.log, Wake: func(string, []eval.Key) {}, Changed: func() {},
		Controllers: func() []*reconcile.Controller { return nil }, Stale: func(*reconcile.Controller) bool { return false },
	})
}

// show brings the cache up to the cluster.
func (k *kept) show() {
	k.t.Helper()
	list, err := k.client.CoreV1().ConfigMaps("ns").List(k.t.Context(), metav1.ListOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	var items []any
	for i := range list.Items {
		items = append(items, &list.Items[i])
	}
	if err := k.indexer.Replace(items, ""); err != nil {
		k.t.Fatal(err)
	}
}

// set writes a key of a ConfigMap, as a person does.
func (k *kept) set(name, key, text string) {
	k.t.Helper()
	k.show()
	if !k.view().write(k.t.Context(), name, map[string]string{key: text}) {
		k.t.Fatalf("%s is not written", name)
	}
	k.show()
}

func (k *kept) data(name string) map[string]string {
	k.show()
	if m := k.get(name); m != nil {
		return m.Data
	}
	return nil
}

func pausedPolicy(revision string) (*plan.Policy, brake.Pause) {
	return &plan.Policy{Name: "p", Revision: revision}, brake.Pause{Policy: "p", Revision: "1", Reason: brake.RemovalLimit, Message: "too much", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func recordOf(pauses ...brake.Pause) brake.Record { return brake.Record{Pauses: pauses} }

// TestPausesOutliveTheProcess: what is paused is kept, is paused for the next
// process, and ends when a person resumes it.
func TestPausesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	policy, pause := pausedPolicy("1")
	newBraked := func() (*Controller, *kept) {
		k := newKept(t, client)
		k.show()
		return k.controller(), k
	}
	first, k := newBraked()
	first.brakes.Restore([]brake.Pause{pause})
	first.brakes.Policy("p").Adopt(policy)
	first.look(t.Context(), time.Now())
	if text := k.data(brake.RecordsName)["p"]; !strings.Contains(text, "too much") {
		t.Fatalf("kept as %q", text)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it reads what is kept, and goes on no further
	second, k := newBraked()
	var wg sync.WaitGroup
	second.Start(ctx, wg.Go)
	second.brakes.Policy("p").Adopt(policy)
	if got := second.brakes.Pauses("p"); len(got) != 1 || got[0].Message != "too much" {
		t.Fatalf("the next process has the pauses %+v", got)
	}
	wg.Wait()

	r := recordOf(pause)
	r.Resumed = &brake.Resumption{By: "somebody", At: time.Now().UTC()}
	k.set(brake.RecordsName, "p", r.Text())
	second.look(t.Context(), time.Now())
	if got := second.brakes.Pauses("p"); len(got) > 0 {
		t.Errorf("after it was resumed: %+v", got)
	}
	if data := k.data(brake.RecordsName); len(data) > 0 {
		t.Errorf("still kept: %v", data)
	}
	second.look(t.Context(), time.Now())
	if len(second.resumed) > 0 {
		t.Error("the resumption is not forgotten")
	}
	var kinds []brake.Kind
	for _, n := range second.TakeNews() {
		kinds = append(kinds, n.Kind)
	}
	if diff := cmp.Diff([]brake.Kind{brake.Resumed}, kinds); diff != "" {
		t.Errorf("news (-want +got):\n%s", diff)
	}
}

// TestAPauseIsNotLostWithItsConfigMap: it is written again.
func TestAPauseIsNotLostWithItsConfigMap(t *testing.T) {
	t.Parallel()
	k := newKept(t, fake.NewClientset())
	b := k.controller()
	policy, pause := pausedPolicy("1")
	b.brakes.Restore([]brake.Pause{pause})
	b.brakes.Policy("p").Adopt(policy)
	b.look(t.Context(), time.Now())
	if err := k.client.CoreV1().ConfigMaps("ns").Delete(t.Context(), brake.RecordsName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	k.show()
	b.look(t.Context(), time.Now().Add(recordInterval))
	if len(k.data(brake.RecordsName)) != 1 || len(b.brakes.Pauses("p")) != 1 {
		t.Error("the pause is lost")
	}
}

// TestAResumptionIsNotOverwritten: what comes into the cache while the brakes look at it
// is not taken for what they have looked at. It is left in the cluster, and counts at the
// next look.
func TestAResumptionIsNotOverwritten(t *testing.T) {
	t.Parallel()
	k := newKept(t, versioned(t))
	b := k.controller()
	policy, pause := pausedPolicy("1")
	r := recordOf(pause)
	k.set(brake.RecordsName, "p", r.Text())
	b.brakes.Restore([]brake.Pause{pause, {Policy: "p", Revision: "1", Reason: brake.ChangeLimit, Since: pause.Since}})
	b.brakes.Policy("p").Adopt(policy)
	b.options.Controllers = func() []*reconcile.Controller { // in the middle of a look
		r.Resumed = &brake.Resumption{By: "somebody", At: time.Now().UTC()}
		k.set(brake.RecordsName, "p", r.Text())
		return nil
	}
	b.look(t.Context(), time.Now())
	b.options.Controllers = func() []*reconcile.Controller { return nil }
	if text := k.data(brake.RecordsName)["p"]; !strings.Contains(text, "somebody") {
		t.Fatalf("the resumption is lost: %s", text)
	}
	b.look(t.Context(), time.Now())
	if got := b.brakes.Pauses("p"); len(got) > 0 {
		t.Errorf("after it was resumed: %+v", got)
	}
}

// versioned is a client whose ConfigMaps have another version after each write, and which
// refuses a write of another version than the present one.
func versioned(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, version := fake.NewClientset(), 1
	client.PrependReactor("patch", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		patch, ok := a.(clienttesting.PatchAction)
		if !ok {
			t.Fatal(a)
		}
		var body struct {
			Metadata metav1.ObjectMeta
			Data     map[string]*string
		}
		if err := json.Unmarshal(patch.GetPatch(), &body); err != nil {
			t.Fatal(err)
		}
		now, err := client.Tracker().Get(a.GetResource(), a.GetNamespace(), patch.GetName())
		if err != nil {
			return true, nil, err
		}
		m, ok := now.DeepCopyObject().(*corev1.ConfigMap)
		if !ok {
			t.Fatal(now)
		}
		if body.Metadata.ResourceVersion != m.ResourceVersion {
			return true, nil, apierrors.NewConflict(a.GetResource().GroupResource(), m.Name, nil)
		}
		version++
		m.ResourceVersion = strconv.Itoa(version)
		for key, text := range body.Data {
			if delete(m.Data, key); text != nil {
				m.Data[key] = *text
			}
		}
		return true, m, client.Tracker().Update(a.GetResource(), m, a.GetNamespace())
	})
	return client
}

// TestHoldsEnd: what has ended is taken away, and what cannot be read holds
// nothing.
func TestHoldsEnd(t *testing.T) {
	t.Parallel()
	k := newKept(t, fake.NewClientset())
	b := k.controller()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, text := range map[string]string{
		"long": `{"policy":"p","reason":"r","by":"me","until":"2026-01-01T02:00:00Z"}`, "short": `{"policy":"p","until":"2026-01-01T01:00:00Z"}`, "broken": "{",
	} {
		k.set(brake.HoldsName, name, text)
	}
	b.look(t.Context(), now)
	if n := len(b.State("p").Holds); n != 2 {
		t.Errorf("%d holds", n)
	}
	b.look(t.Context(), now.Add(time.Hour))
	if n := len(b.State("p").Holds); n != 1 {
		t.Errorf("%d holds an hour later", n)
	}
	data := k.data(brake.HoldsName)
	if _, there := data["short"]; there || len(data) != 2 {
		t.Errorf("there are %v", data)
	}
	if got := len(b.TakeNews()); got != 3 {
		t.Errorf("%d news, want two beginnings and an end", got)
	}
}

// TestSeries: what no longer holds has no series.
func TestSeries(t *testing.T) {
	t.Parallel()
	got := seriesOf(map[string]*brake.State{
		"a": {Pauses: []brake.Pause{{Reason: brake.ChangeLimit}}, Kept: map[brake.Reason]int{brake.ChangeLimit: 2}, Paced: make([]brake.Paced, 1)},
		"b": {Holds: make([]brake.Hold, 3)},
		"c": {},
	})
	want := map[observe.Series]float64{
		observe.SeriesOf(observe.Paused, "a", string(brake.ChangeLimit)):   1,
		observe.SeriesOf(observe.KeptBack, "a", string(brake.ChangeLimit)): 2,
		observe.SeriesOf(observe.Paced, "a"):                               1,
		observe.SeriesOf(observe.Holds, "b"):                               3,
	}
	if !maps.Equal(got, want) {
		t.Errorf("the series are %v, want %v", got, want)
	}
}

// TestPauseNamesTheOtherWriter: the text of a pause has the other field manager of the write
// that was kept back.
func TestPauseNamesTheOtherWriter(t *testing.T) {
	t.Parallel()
	manager := "rival"
	c := New(Options{Manager: func(context.Context, string, []*eval.Effect) string { return manager }})
	for name, want := range map[string]string{"rival": "it is paused, and rival writes it, too: stop one of the two", "": "it is paused"} {
		manager = name
		n := brake.News{Policy: "p", Kind: brake.Paused, Text: "it is paused", Effect: &eval.Effect{}}
		if c.nameWriter(t.Context(), &n); n.Text != want {
			t.Errorf("%q, want %q", n.Text, want)
		}
	}
}

// TestReportPaced: a policy that has a key at its pace is told of once, and again when it
// is found who else writes. It is looked for until then.
func TestReportPaced(t *testing.T) {
	t.Parallel()
	asked := 0
	managers := []string{"", "", "kubectl"}
	c := New(Options{Manager: func(context.Context, string, []*eval.Effect) string {
		asked++
		return managers[asked-1]
	}})
	paced := func(names ...string) map[string]*brake.State {
		s := &brake.State{}
		for _, name := range names {
			s.Paced = append(s.Paced, brake.Paced{Policy: "p", Key: eval.Key{Name: name}, Effects: []*eval.Effect{{Rules: []string{"r"}}}})
		}
		return map[string]*brake.State{"p": s, "q": {}}
	}
	for i, step := range []struct {
		keys  []string
		news  int
		by    string
		asked int
	}{
		{nil, 0, "", 0},
		{[]string{"a", "b"}, 1, "", 1},
		{[]string{"a"}, 0, "", 2},
		{[]string{"a", "b"}, 1, "kubectl", 3},
		{[]string{"a"}, 0, "kubectl", 3},
		{nil, 0, "", 3},
	} {
		states := paced(step.keys...)
		news := c.reportPaced(t.Context(), states)
		if len(news) != step.news || asked != step.asked {
			t.Errorf("%d: %d news, asked %d times: %v", i, len(news), asked, news)
		}
		for _, n := range news {
			if n.Policy != "p" || n.Kind != brake.AtPace || strings.Contains(n.Text, "kubectl") != (step.by != "") {
				t.Errorf("%d: %+v", i, n)
			}
		}
		if len(step.keys) > 0 && states["p"].Paced[0].Manager != step.by {
			t.Errorf("%d: the manager is %q", i, states["p"].Paced[0].Manager)
		}
	}
}
