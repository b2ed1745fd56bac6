package policies

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// managed assigns the policies of ConfigMaps that a test gives it.
type managed struct {
	t        *testing.T
	policies *lifecycle.Registry
	checker  *check.Checker
	history  *historyStore
	assigner *assigner
}

func newManaged(t *testing.T) *managed {
	t.Helper()
	m := &managed{t: t, policies: lifecycle.NewRegistry(), checker: fixture.Checker()}
	m.policies.Illegal = func(err error) { t.Error(err) }
	m.history = newHistoryStore(nil, "ns", m.checker, fixture.Log())
	m.assigner = &assigner{policies: m.policies, history: m.history, annotations: func(*source.ConfigMap) (map[string]string, string) { return nil, "" }}
	return m
}

// see looks at ConfigMaps, and returns the policies that are to run, with the
// files that they stand in.
func (s *managed) see(params map[string]string, maps ...*source.ConfigMap) map[string]string {
	s.t.Helper()
	var contents []*source.Contents
	for _, m := range maps {
		contents = append(contents, m.Read())
	}
	c := source.NewCatalog(contents, []*source.Values{fixture.ConfigMap("params", "", params).ReadParams()}, nil)
	s.history.hold(c, s.policies)
	s.checker.All(s.t.Context(), c, s.policies, func(string, *source.Unit) bool { return false })
	out := map[string]string{}
	for _, id := range s.assigner.known(c) {
		rev := s.assigner.wanted(id, c)
		if rev == nil {
			s.policies.Stop(id)
			s.policies.End(id, s.policies.Ticket(id))
			continue
		}
		s.policies.Assign(id, rev, false)
		out[id] = rev.Unit.Revision()
		if v := s.policies.Get(id).Newest; v != nil && v.Good() {
			s.history.entries[id] = []*history.Entry{{Copy: history.CopyOf(rev.Unit), Result: history.Active}}
		}
	}
	for id := range s.history.entries {
		if good := s.history.good(id); good != nil && s.history.over(id, c) {
			good.Result = history.Stopped
		}
	}
	return out
}

// TestWanted: what is refused changes nothing, and what is switched off does
// not run, be it right or not.
func TestWanted(t *testing.T) {
	t.Parallel()
	good, broken, unreadable := map[string]string{"p.yaml": fixture.Policy("p", "a")}, map[string]string{"p.yaml": fixture.Policy("p", "${nothing.at.all}")}, map[string]string{"p.yaml": "]"}
	type edit struct {
		data   map[string]string
		mode   string
		params map[string]string
	}
	bad := map[string]string{"p": "value: ["}
	for name, tc := range map[string]struct {
		edits []edit
		want  string // the ID of what runs in the end, as it was at first; "" is nothing
	}{
		"broken":                               {[]edit{{data: good}, {data: broken}}, "p"},
		"unreadable":                           {[]edit{{data: good}, {data: unreadable}}, "p"},
		"broken and mended":                    {[]edit{{data: good}, {data: broken}, {data: good}}, "p"},
		"disabled":                             {[]edit{{data: good}, {data: good, mode: "Disabled"}}, ""},
		"disabled, then broken":                {[]edit{{data: good}, {data: good, mode: "Disabled"}, {data: broken, mode: "Disabled"}}, ""},
		"disabled, then unreadable":            {[]edit{{data: good}, {data: good, mode: "Disabled"}, {data: unreadable, mode: "Disabled"}}, ""},
		"broken, then disabled":                {[]edit{{data: good}, {data: broken}, {data: broken, mode: "p=Disabled"}}, ""},
		"unreadable, then disabled":            {[]edit{{data: good}, {data: unreadable}, {data: unreadable, mode: "p=Disabled"}}, ""},
		"unreadable, then in the shadow":       {[]edit{{data: good}, {data: unreadable}, {data: unreadable, mode: "Shadow"}}, ""},
		"another one is disabled":              {[]edit{{data: good}, {data: unreadable}, {data: unreadable, mode: "q=Disabled"}}, "p"},
		"disabled, broken, and on again":       {[]edit{{data: good}, {data: broken, mode: "Disabled"}, {data: broken}}, "p"},
		"an unknown mode":                      {[]edit{{data: good}, {data: good, mode: "Shadwo"}}, "p"},
		"disabled, then an unknown mode":       {[]edit{{data: good}, {data: good, mode: "Disabled"}, {data: good, mode: "Disable"}}, ""},
		"in the shadow, then an unknown mode":  {[]edit{{data: good}, {data: good, mode: "Shadow"}, {data: good, mode: "Shadwo"}}, "p@shadow"},
		"unreadable params":                    {[]edit{{data: good}, {data: good, params: bad}}, "p"},
		"unreadable params from the beginning": {[]edit{{data: good, params: bad}}, ""},
		"gone":                                 {[]edit{{data: good}, {data: nil}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newManaged(t)
			var first, got map[string]string
			for i, e := range tc.edits {
				got = s.see(e.params, fixture.ConfigMap("m", e.mode, e.data))
				if i == 0 {
					first = got
				}
			}
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || got[tc.want] != first["p"]) {
				t.Errorf("%v runs, at first %v", got, first)
			}
		})
	}
}

// TestUnknownPolicies: values from the command line for a policy that does not exist
// are logged; it exists, too, in Shadow mode.
func TestUnknownPolicies(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	m := &Manager{options: Options{
		Log:    slog.New(slog.NewTextHandler(&log, nil)),
		Params: compile.TypedOverrides(map[string]map[string]string{"p": {"value": "a"}, "q": {"value": "a"}, "r": {"value": "a"}}, source.Typed),
	}}
	contents := fixture.ConfigMap("m", "p=Shadow", map[string]string{"p.yaml": fixture.Policy("p", "a"), "q.yaml": fixture.Policy("q", "a")}).Read()
	m.warnUnknownPolicies(source.NewCatalog([]*source.Contents{contents}, nil, nil))
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "policy=r") {
		t.Error(log.String())
	}
}

// TestRecheckOfUntyped: a text that is in force is checked again when the cluster publishes
// the types that it was checked without; not before, and not while another one is in force.
// So is one that did not fit the types when it was loaded: they change without an edit.
func TestRecheckOfUntyped(t *testing.T) {
	t.Parallel()
	lacking := check.New(check.Options{Kinds: discovery.New(meta.NewDefaultRESTMapper(nil), nil, schema.NewSet(schema.Builtin()), time.Second), Guard: guard.New(nil).Assuming(), Log: fixture.Log()})
	v := fixture.Checker().Text(t.Context(), fixture.Labelling("a").Read().Units[0])
	for name, tc := range map[string]struct {
		checker *check.Checker
		event   lifecycle.Event
		inForce string
		typed   bool
		want    bool
	}{
		"they are published":       {fixture.Checker(), lifecycle.Activated, v.Unit.Revision(), false, true},
		"they are not":             {lacking, lifecycle.Activated, v.Unit.Revision(), false, false},
		"another text is in force": {fixture.Checker(), lifecycle.Activated, "other", false, false},
		"it was checked with them": {fixture.Checker(), lifecycle.Activated, v.Unit.Revision(), true, false},
		"it did not fit them":      {fixture.Checker(), lifecycle.Failed, "", false, true},
		"it fails with them":       {fixture.Checker(), lifecycle.Failed, "", true, false},
	} {
		newest := *v
		newest.Typed = tc.typed
		policies := stateOf("p", &newest, lifecycle.Report{Event: tc.event, InForce: tc.inForce})
		m := &Manager{options: Options{Checker: tc.checker}, policies: policies}
		p := policies.Get("p")
		if got := m.due(&p); got != tc.want {
			t.Errorf("%s: it is checked again: %t", name, got)
		}
	}
}

// TestNoRecheckOfWhatIsNotAllowed: a text that lacks an allowance is not checked again, since
// only a new start brings another one; a text that is wrong is, since the types may change.
func TestNoRecheckOfWhatIsNotAllowed(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"a": false, "${nothing.at.all}": true} {
		checker := check.New(check.Options{Kinds: fixture.Kinds(), Guard: guard.New(nil), Log: fixture.Log()})
		catalog := source.NewCatalog([]*source.Contents{fixture.ConfigMap("m", "", map[string]string{"p.yaml": fixture.Policy("p", value)}).Read()}, nil, nil)
		policies := lifecycle.NewRegistry()
		checker.All(t.Context(), catalog, policies, func(string, *source.Unit) bool { return false })
		p := policies.Get("p")
		if p.Newest.Plan != nil || (&Manager{policies: policies, options: Options{Checker: checker}}).due(&p) != want {
			t.Errorf("%s: it is not refused, or checked again: %t", value, !want)
		}
	}
}

// TestAPolicyThatMoves goes by the file that it stands in now.
func TestAPolicyThatMoves(t *testing.T) {
	t.Parallel()
	s := newManaged(t)
	first := s.see(nil, fixture.ConfigMap("one", "", map[string]string{"p.yaml": fixture.Policy("p", "a")}))
	s.see(nil, fixture.ConfigMap("one", "", nil), fixture.ConfigMap("two", "", map[string]string{"other.yaml": fixture.Policy("p", "a")}))
	got := s.see(nil, fixture.ConfigMap("one", "", nil), fixture.ConfigMap("two", "", map[string]string{"other.yaml": "]"}))
	if len(got) != 1 || got["p"] != first["p"] {
		t.Errorf("%v, not %v", got, first)
	}
}

// TestStatusWriter: what others remove is written again, and not before the cache
// shows what was written.
func TestStatusWriter(t *testing.T) {
	t.Parallel()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns", UID: "m", ResourceVersion: "7"}}
	client := fake.NewClientset(m)
	writes := 0
	client.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		writes++
		return true, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "10"}}, nil
	})
	n := &statusWriter{client: client, log: slog.New(slog.DiscardHandler), events: events.NewRecorder(record.NewFakeRecorder(10)), written: map[string]writing{}}
	one := []statusReport{{configMap: configmap.Of(m), status: statusActive}}
	done := one[0].annotations()
	for i, tc := range []struct {
		live    map[string]string
		version string
		want    int
	}{{nil, "7", 1}, {nil, "8", 1}, {done, "10", 1}, {map[string]string{"x": "y"}, "11", 2}, {done, "12", 2}} {
		n.write(t.Context(), one, func(*source.ConfigMap) (map[string]string, string) { return tc.live, tc.version })
		if writes != tc.want {
			t.Errorf("%d: %d writes, want %d", i, writes, tc.want)
		}
	}
}

// TestNumbersAreWrittenSeldom: a note of which only numbers change waits for a
// while, and another reason does not.
func TestNumbersAreWrittenSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns", UID: "m", ResourceVersion: "7"}}
		client := fake.NewClientset(m)
		live := map[string]string{}
		writes := 0
		client.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			writes++
			return true, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "10"}}, nil
		})
		recorder := record.NewFakeRecorder(10)
		n := &statusWriter{client: client, log: slog.New(slog.DiscardHandler), events: events.NewRecorder(recorder), written: map[string]writing{}}
		publish := func(text, reason string) (later bool) {
			one := []statusReport{{configMap: configmap.Of(m), status: statusDegraded, text: text, reason: reason}}
			later = n.write(t.Context(), one, func(*source.ConfigMap) (map[string]string, string) { return live, "11" })
			if !later {
				live = one[0].annotations()
			}
			return later
		}
		if publish("1 of 9 objects fail", "r") || !publish("2 of 9 objects fail", "r") || writes != 1 {
			t.Errorf("%d writes", writes)
		}
		for i, rest := range []time.Duration{2, 2, 4, 8, 15, 15} { // seconds
			text := fmt.Sprint(i+3, " of 9 objects fail")
			<-time.After(rest*time.Second - 1)
			if !publish(text, "r") || writes != i+1 || n.due(time.Now()) {
				t.Errorf("%d: %d writes too early", i, writes)
			}
			<-time.After(1)
			if !n.due(time.Now()) || publish(text, "r") || writes != i+2 {
				t.Errorf("%d: %d writes after a while", i, writes)
			}
		}
		if publish("3 of 9 objects fail differently", "s") || writes != 8 {
			t.Errorf("%d writes for another reason", writes)
		}
		<-time.After(newReason)
		if publish("4 of 9 objects fail differently", "s") || writes != 9 {
			t.Errorf("%d writes soon after another reason", writes)
		}
		if n.events.Flush(time.Now().Add(time.Minute)); len(recorder.Events) != 2 {
			t.Errorf("%d events", len(recorder.Events))
		}
	})
}

// TestMetricsOfOneThatLedBefore: a replica that no longer leads has no series of policies:
// another one says what has become of them, and an alert would never end.
func TestMetricsOfOneThatLedBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := fake.NewClientset()
	store, err := configmap.NewStore(ctx, client, "ns", func() {})
	if err != nil {
		t.Fatal(err)
	}
	m := &Manager{
		options: Options{Client: client, Store: store, Log: fixture.Log()}, assigner: &assigner{}, errors: newConfigMapErrors(fixture.Log()),
		reporter: &reporter{policies: lifecycle.NewRegistry(), known: func(*source.Catalog) []string { return []string{"led-before"} }},
	}
	m.reporter.measure(nil, []string{"led-before"})
	m.errors.report([]statusReport{{configMap: &source.ConfigMap{Name: "led-before"}, own: make([]document.Problem, 1)}})
	if err := m.Run(ctx); err == nil {
		t.Fatal("it runs on")
	}
	if observe.Failed.DeleteLabelValues("led-before") || observe.Ended.DeleteLabelValues("led-before") || observe.ConfigMapErrors.DeleteLabelValues("led-before") {
		t.Error("a series has stayed")
	}
}
