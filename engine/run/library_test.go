package run

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// offline is a process without a cluster, which knows Nodes.
func offline() *process {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(kschema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	return &process{
		Options: Options{Log: slog.New(slog.DiscardHandler), PolicyNamespace: "ns"}, schemas: schema.NewSet(schema.Builtin()),
		mapper: mapper, guard: guard.New(nil), exports: newExports(),
	}
}

// text is a policy that marks nodes.
func text(name, value string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" +
		"  params: {value: x}\n  rules:\n    - name: mark\n      do: [{labels: {set: {" + name + ": \"" + value + "\"}}}]\n"
}

// made is a ConfigMap of policies.
func made(name, mode string, data map[string]string) *source.ConfigMap {
	return &source.ConfigMap{Namespace: "ns", Name: name, UID: name, Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Data: data, Mode: mode}
}

// shelved is a library that looks at ConfigMaps when it is told to.
type shelved struct {
	*library
	t *testing.T
}

func newShelved(t *testing.T) *shelved {
	t.Helper()
	p := offline()
	l := &library{term: p.newTerm(t.Context()), judge: judge{process: p}}
	l.store = newRevisionStore(p, nil)
	return &shelved{library: l, t: t}
}

func noProblem(*source.Unit) *document.Problem { return nil }

// see looks at ConfigMaps, and returns the policies that are to run, with the
// files that they stand in.
func (s *shelved) see(params map[string]string, maps ...*source.ConfigMap) map[string]string {
	s.t.Helper()
	var contents []*source.Contents
	for _, m := range maps {
		contents = append(contents, m.Read())
	}
	c := source.NewCatalog(contents, []*source.Values{made("params", "", params).ReadParams()}, nil)
	s.judge.all(c, s.policies, noProblem)
	out := map[string]string{}
	for _, id := range s.known(c) {
		rev := s.wanted(id, c)
		if rev == nil {
			s.policies.Stop(id)
			s.policies.End(id, s.policies.Ticket(id))
			continue
		}
		s.policies.Assign(id, rev, false)
		out[id] = rev.Unit.Revision()
		if v := s.policies.Get(id).Newest; v != nil && v.Good() {
			s.store.entries[id] = []*history.Entry{{Copy: history.CopyOf(rev.Unit), Result: history.Active}}
		}
	}
	return out
}

// TestWanted: what is refused changes nothing, and what is switched off does
// not run, be it right or not.
func TestWanted(t *testing.T) {
	t.Parallel()
	good, broken, unreadable := map[string]string{"p.yaml": text("p", "a")}, map[string]string{"p.yaml": text("p", "${nothing.at.all}")}, map[string]string{"p.yaml": "]"}
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
			s := newShelved(t)
			var first, got map[string]string
			for i, e := range tc.edits {
				got = s.see(e.params, made("m", e.mode, e.data))
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

// TestTypedStrangers: values that were typed for a policy that is not there are
// told of; it is there, too, if it only looks on.
func TestTypedStrangers(t *testing.T) {
	t.Parallel()
	s := newShelved(t)
	var log strings.Builder
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.Params = map[string]map[string]string{"p": {"value": "a"}, "q": {"value": "a"}, "r": {"value": "a"}}
	contents := made("m", "p=Shadow", map[string]string{"p.yaml": text("p", "a"), "q.yaml": text("q", "a")}).Read()
	s.strangers(source.NewCatalog([]*source.Contents{contents}, nil, nil))
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "policy=r") {
		t.Error(log.String())
	}
}

// TestAPolicyThatMoves goes by the file that it stands in now.
func TestAPolicyThatMoves(t *testing.T) {
	t.Parallel()
	s := newShelved(t)
	first := s.see(nil, made("one", "", map[string]string{"p.yaml": text("p", "a")}))
	s.see(nil, made("one", "", nil), made("two", "", map[string]string{"other.yaml": text("p", "a")}))
	got := s.see(nil, made("one", "", nil), made("two", "", map[string]string{"other.yaml": "]"}))
	if len(got) != 1 || got["p"] != first["p"] {
		t.Errorf("%v, not %v", got, first)
	}
}

// TestVerdicts: one stands while the text does, a fault is one of its policy,
// and what is refused is judged again.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	s := newShelved(t)
	broken := text("p", "${nothing.at.all}")
	s.see(nil, made("m", "", map[string]string{"p.yaml": broken}))
	first := s.policies.Get("p").Newest
	s.see(nil, made("m", "", map[string]string{"p.yaml": broken}))
	if s.policies.Get("p").Newest != first {
		t.Error("it is judged twice")
	}
	s.see(nil, made("m", "", map[string]string{"p.yaml": "# a remark\n" + broken}))
	if now := s.policies.Get("p").Newest; now.Problems[0].Line != first.Problems[0].Line+1 {
		t.Errorf("the mistake is said to stand in line %d, %d before", now.Problems[0].Line, first.Problems[0].Line)
	}
	if first = s.policies.Get("p").Newest; !s.doubt() {
		t.Error("nothing is judged again")
	}
	if s.see(nil, made("m", "", map[string]string{"p.yaml": "# a remark\n" + broken})); s.policies.Get("p").Newest == first {
		t.Error("it is not judged again")
	}
	s.process.mapper = nil // which is a fault
	s.see(nil, made("m", "", map[string]string{"p.yaml": text("p", "a")}))
	if v := s.policies.Get("p").Newest; v.Good() || !strings.Contains(v.Problems[0].Message, "internal error (panic)") {
		t.Errorf("%+v", v)
	}
}

// TestNotices: what others remove is written again, and not before the cache
// shows what was written.
func TestNotices(t *testing.T) {
	t.Parallel()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns", UID: "m", ResourceVersion: "7"}}
	client := fake.NewClientset(m)
	writes := 0
	client.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		writes++
		return true, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "10"}}, nil
	})
	n := &notices{client: client, log: slog.New(slog.DiscardHandler), events: newEvents(record.NewFakeRecorder(10)), written: map[string]writing{}}
	one := []note{{ConfigMap: configMap(m), status: statusActive}}
	done := one[0].annotations()
	for i, tc := range []struct {
		live    map[string]string
		version string
		want    int
	}{{nil, "7", 1}, {nil, "8", 1}, {done, "10", 1}, {map[string]string{"x": "y"}, "11", 2}, {done, "12", 2}} {
		n.publish(t.Context(), one, func(*source.ConfigMap) (map[string]string, string) { return tc.live, tc.version })
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
		n := &notices{client: client, log: slog.New(slog.DiscardHandler), events: newEvents(recorder), written: map[string]writing{}}
		publish := func(text, reason string) (later bool) {
			one := []note{{ConfigMap: configMap(m), status: statusDegraded, text: text, reason: reason}}
			later = n.publish(t.Context(), one, func(*source.ConfigMap) (map[string]string, string) { return live, "11" })
			if !later {
				live = one[0].annotations()
			}
			return later
		}
		if publish("1 of 9 objects fail", "r") || !publish("2 of 9 objects fail", "r") || writes != 1 {
			t.Errorf("%d writes", writes)
		}
		<-time.After(sameReason)
		if publish("3 of 9 objects fail", "r") || writes != 2 {
			t.Errorf("%d writes after a while", writes)
		}
		if publish("3 of 9 objects fail differently", "s") || writes != 3 {
			t.Errorf("%d writes for another reason", writes)
		}
		if n.events.flush(time.Now().Add(eventPause)); len(recorder.Events) != 2 {
			t.Errorf("%d events", len(recorder.Events))
		}
	})
}
