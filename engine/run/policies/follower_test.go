package policies

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestFollower: a replica that follows runs what the history has in force, not a newer
// text, and nothing of a policy that is disabled or gone.
func TestFollower(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	f := &Follower{policies: lifecycle.NewRegistry(), history: r.store}
	wanted := func(m *source.ConfigMap) string {
		rev := f.wanted("p", source.NewCatalog([]*source.Contents{m.Read()}, nil, nil))
		if rev == nil {
			return ""
		}
		return rev.Unit.Revision()
	}
	if got := wanted(fixture.Labelling("a")); got != "" {
		t.Errorf("a text that nothing is known of runs as %s", got)
	}
	a := r.see(fixture.Labelling("a"), lifecycle.Activated, "").Units["p"].Revision()
	r.see(fixture.Labelling("b"), lifecycle.Failed, a)
	if got := wanted(fixture.Labelling("b")); got != a {
		t.Errorf("%s runs, want %s", got, a)
	}
	c := r.see(fixture.Labelling("c"), lifecycle.Activated, "").Units["p"].Revision()
	if got := wanted(fixture.Labelling("c")); got != c {
		t.Errorf("%s runs, want %s", got, c)
	}
	disabled := fixture.Labelling("c")
	disabled.Mode = "Disabled"
	if got := wanted(disabled); got != "" {
		t.Errorf("a disabled policy runs as %s", got)
	}
	if r.store.keep(t.Context(), source.NewCatalog(nil, nil, nil), lifecycle.NewRegistry()) {
		t.Error("it failed")
	}
	if got := wanted(fixture.Labelling("c")); got != "" {
		t.Errorf("a policy that was gone runs as %s", got)
	}
}

// TestFollowerThatLed: what a replica found in texts while it led is no longer known, so
// that it can stop each policy, in whatever phase it was.
func TestFollowerThatLed(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]lifecycle.Event{
		"it runs": {lifecycle.Activated}, "it waits": {lifecycle.Blocked}, "it loads": nil, "it was refused": {lifecycle.Failed},
	} {
		unit := fixture.Labelling("a").Read().Units[0]
		rev := lifecycle.Revision{Unit: unit, Plan: fixture.Checker().Text(unit).Plan}
		f := &Follower{policies: lifecycle.NewRegistry()}
		f.policies.Illegal = func(err error) { t.Errorf("%s: %v", name, err) }
		f.policies.Check("p", &lifecycle.CheckResult{Revision: rev, Compiled: true})
		f.policies.Assign("p", &rev, false)
		ticket := f.policies.Ticket("p")
		for _, event := range events {
			f.policies.Report("p", ticket, lifecycle.Report{Event: event}, time.Now())
		}
		f.forget()
		if f.policies.Get("p").Assigned == nil {
			t.Errorf("%s: it does not go on", name)
		}
		f.policies.Stop("p")
		f.policies.End("p", ticket)
		if p := f.policies.Get("p"); p.Phase != lifecycle.Stopped || p.Newest != nil {
			t.Errorf("%s: afterwards %s", name, p.Phase)
		}
	}
}

// TestFollowerOfWhatCannotBeRead: another ConfigMap with the same policy has no say while
// that of what runs cannot be read.
func TestFollowerOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	f := &Follower{policies: lifecycle.NewRegistry(), history: r.store}
	a := r.see(aged(2, "m", "", fixture.Policy("p", "a")), lifecycle.Activated, "").Units["p"].Revision()
	c := source.NewCatalog([]*source.Contents{aged(2, "m", "", "]").Read(), aged(1, "other", "Disabled", fixture.Policy("p", "b")).Read()}, nil, nil)
	f.history.hold(c, f.policies)
	if rev := f.wanted("p", c); rev == nil || rev.Unit.Revision() != a {
		t.Errorf("%+v runs", rev)
	}
}

// TestFollowerOfWhatDidNotFit: a revision that did not fit the types of the cluster is tried
// again by those that it publishes now, once. Nobody edits the policy for that.
func TestFollowerOfWhatDidNotFit(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	f := &Follower{options: Options{Checker: r.checker}, policies: lifecycle.NewRegistry(), history: r.store}
	c := r.see(fixture.Labelling("a"), lifecycle.Activated, "")
	untyped := f.wanted("p", c).Alone()
	untyped.Typed = false
	for _, step := range []struct {
		rev   *lifecycle.Revision
		event lifecycle.Event
		again bool
	}{{untyped, lifecycle.Blocked, false}, {untyped, lifecycle.Failed, true}, {f.wanted("p", c), lifecycle.Failed, false}} {
		f.policies.Assign("p", step.rev, false)
		f.policies.Report("p", f.policies.Ticket("p"), lifecycle.Report{Event: step.event}, time.Now())
		if again := f.policies.Assign("p", f.wanted("p", c), false); again != step.again {
			t.Errorf("%s, by types: %t: it is tried again: %t", step.event, step.rev.Typed, again)
		}
	}
}

// TestFollowerReadsTheHistory: the history is read when the status says that something else
// is in force or was observed, not when it says what fails, and from time to time.
func TestFollowerReadsTheHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns", UID: "m", Labels: map[string]string{v1alpha1.LabelPolicy: "true"}, Annotations: map[string]string{}}}
		client := fake.NewClientset(m)
		reads, fails := 0, false
		client.PrependReactor("list", "controllerrevisions", func(clienttesting.Action) (bool, runtime.Object, error) {
			if reads++; fails {
				return true, nil, errors.New("no answer")
			}
			return false, nil, nil
		})
		store, err := configmap.NewStore(ctx, client, "ns", func() {})
		if err != nil || !store.Wait(ctx) {
			t.Fatal(err)
		}
		checker := fixture.Checker()
		f := &Follower{options: Options{Store: store, Checker: checker}, policies: lifecycle.NewRegistry(), history: newHistoryStore(client, "ns", checker, fixture.Log())}
		unit := fixture.Labelling("a").Read().Units[0]
		for _, step := range []struct {
			what  string
			do    func()
			fails bool
			reads int
		}{
			{"at the start", func() {}, false, 1},
			{"nothing has changed", func() {}, false, 1},
			{"something fails", func() { m.Annotations[v1alpha1.AnnotationError] = "1 of 9 objects fail" }, false, 1},
			{"it is degraded", func() { m.Annotations[v1alpha1.AnnotationStatus] = "Degraded" }, false, 1},
			{"it is edited", func() { m.Data = map[string]string{"p.yaml": fixture.Policy("p", "a")} }, false, 2},
			{"another revision is in force", func() { m.Annotations[v1alpha1.AnnotationPolicies] = "p=2" }, false, 3},
			{"another text is observed, and it cannot be read", func() { m.Annotations[v1alpha1.AnnotationObserved] = "3" }, true, 4},
			{"it can be read again", func() {}, false, 5},
			{"after a while", func() { f.due = true }, false, 6},
			{"then nothing has changed", func() {}, false, 6},
			{"it is waited for", func() { m.Annotations[v1alpha1.AnnotationStatus] = "Waiting" }, false, 7},
			{"a policy runs that is nowhere", func() { f.policies.Assign("q", &lifecycle.Revision{Unit: unit}, false) }, false, 8},
		} {
			step.do()
			if _, err := client.CoreV1().ConfigMaps("ns").Update(ctx, m, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			fails = step.fails
			noted, err := store.Results()
			if err != nil {
				t.Fatal(err)
			}
			catalog, err := store.Catalog(&f.cache, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.readHistory(ctx, noted, catalog); (err != nil) != step.fails || reads != step.reads {
				t.Errorf("%s: %d reads, want %d; %v", step.what, reads, step.reads, err)
			}
		}
	})
}
