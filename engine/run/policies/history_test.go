package policies

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// historian keeps what becomes of ConfigMaps in a store.
type historian struct {
	t       *testing.T
	checker *check.Checker
	store   *historyStore
}

func newHistorian(t *testing.T) *historian {
	t.Helper()
	checker := fixture.Checker()
	return &historian{t: t, checker: checker, store: newHistoryStore(newClient(), "ns", checker, fixture.Log())}
}

// stateOf returns the state of a policy whose controller has reported on a text.
func stateOf(id string, newest *lifecycle.CheckResult, report lifecycle.Report) *lifecycle.Registry {
	out := lifecycle.NewRegistry()
	if newest == nil {
		return out
	}
	out.Check(id, newest)
	out.Assign(id, &newest.Revision, false)
	if report.Event != "" {
		out.Report(id, out.Ticket(id), report, time.Now())
	}
	return out
}

// see records what the controller of the policy of a ConfigMap reports, with what
// runs; "" is the present revision.
func (r *historian) see(m *source.ConfigMap, event lifecycle.Event, runs string) *source.Catalog {
	r.t.Helper()
	c := source.NewCatalog([]*source.Contents{m.Read()}, nil, nil)
	policies := lifecycle.NewRegistry()
	r.checker.All(r.t.Context(), c, policies, func(string, *source.Unit) bool { return false })
	for _, id := range policies.Checked() {
		newest := policies.Get(id).Newest
		policies.Assign(id, &newest.Revision, false)
		report := lifecycle.Report{Event: event, InForce: runs}
		if runs == "" && event == lifecycle.Activated {
			report.InForce = c.Units[id].Revision()
		}
		if event != "" {
			policies.Report(id, policies.Ticket(id), report, time.Now())
		}
	}
	if r.store.keep(r.t.Context(), c, policies) {
		r.t.Error("it failed")
	}
	return c
}

// kept returns what the cluster keeps of a policy: number, value in the text and
// result.
func (r *historian) kept(policy string) (out []string) {
	r.t.Helper()
	fresh := newHistoryStore(r.store.client, "ns", r.checker, fixture.Log())
	if err := fresh.read(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	for _, e := range fresh.entries[policy] {
		_, rest, _ := strings.Cut(e.Text, "set: {"+policy+": \"")
		value, _, _ := strings.Cut(rest, `"`)
		out = append(out, fmt.Sprintf("%d %s %s", e.Number, value, e.Result))
	}
	if len(out) > maxRevisions {
		r.t.Errorf("%d revisions are kept", len(out))
	}
	return out
}

// TestHistory: every revision is kept with what became of it, and the last good
// one is found again whatever came after it.
func TestHistory(t *testing.T) {
	t.Parallel()
	type step struct {
		value string
		event lifecycle.Event
		by    string
	}
	for name, tc := range map[string]struct {
		steps []step
		want  []string
		good  string // the value of the last good revision
	}{
		"one":                        {[]step{{"a", lifecycle.Activated, ""}}, []string{"1 a Active"}, "a"},
		"not known yet":              {[]step{{"a", "", ""}}, nil, ""},
		"an edit waits":              {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Blocked, ""}}, []string{"1 a Active", "2 b Waiting"}, "a"},
		"an edit is refused":         {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Failed, ""}}, []string{"1 a Active", "2 b Refused"}, "a"},
		"it waits no more":           {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Blocked, ""}, {"b", lifecycle.Activated, ""}}, []string{"1 a Active", "2 b Active"}, "b"},
		"it waits, then is refused":  {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Blocked, ""}, {"b", lifecycle.Failed, ""}}, []string{"1 a Active", "2 b Refused"}, "a"},
		"what ran waits":             {[]step{{"a", lifecycle.Activated, ""}, {"a", lifecycle.Blocked, ""}}, []string{"1 a Active"}, "a"},
		"a text comes back":          {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Activated, ""}, {"a", lifecycle.Activated, ""}}, []string{"1 a Active", "2 b Active", "3 a Active"}, "a"},
		"a rollback":                 {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Activated, ""}, {"a", lifecycle.Activated, history.RollbackManager}}, []string{"1 a Active", "2 b RolledBack", "3 a Active"}, "a"},
		"a rollback waits":           {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Activated, ""}, {"a", lifecycle.Blocked, history.RollbackManager}}, []string{"1 a Active", "2 b Active", "3 a Waiting"}, "b"},
		"a rollback of what waits":   {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Blocked, ""}, {"a", lifecycle.Activated, history.RollbackManager}}, []string{"1 a Active", "2 b Waiting", "3 a Active"}, "a"},
		"a rollback that had waited": {[]step{{"a", lifecycle.Activated, ""}, {"b", lifecycle.Activated, ""}, {"a", lifecycle.Blocked, history.RollbackManager}, {"a", lifecycle.Activated, history.RollbackManager}}, []string{"1 a Active", "2 b RolledBack", "3 a Active"}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHistorian(t)
			for _, s := range tc.steps {
				m := fixture.Labelling(s.value)
				m.Edits = map[string]source.Edit{"p.yaml": {Manager: s.by}}
				r.see(m, s.event, "")
			}
			if d := cmp.Diff(tc.want, r.kept("p")); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			good := r.store.lastGood("p")
			if tc.good == "" && good != nil || tc.good != "" && (good == nil || !strings.Contains(string(good.Unit.File.Text), `"`+tc.good+`"`)) {
				t.Errorf("%+v is the last good one, want %s", good, tc.good)
			}
		})
	}
}

// TestHistoryOfAQuickEdit: a revision that ran is in the history, also if the
// next edit replaced it before it could be recorded.
func TestHistoryOfAQuickEdit(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	r.see(fixture.Labelling("a"), lifecycle.Activated, "")
	second := source.NewCatalog([]*source.Contents{fixture.Labelling("b").Read()}, nil, nil)
	rev := (&lifecycle.Revision{Unit: second.Units["p"]}).ReadFrom(second)
	if r.store.keepInForce(t.Context(), []*lifecycle.Revision{rev, rev}) {
		t.Error("it failed")
	}
	r.see(fixture.Labelling("c"), lifecycle.Blocked, rev.Unit.Revision())
	if diff := cmp.Diff([]string{"1 a Active", "2 b Active", "3 c Waiting"}, r.kept("p")); diff != "" {
		t.Error(diff)
	}
	if kept := (&lifecycle.Revision{Unit: second.Units["p"]}).ReadFrom(source.NewCatalog(nil, nil, nil)); kept.Catalog != nil {
		t.Error("a revision of the history would be recorded anew")
	}
}

// TestHistoryIsBounded: the oldest revisions go, but never the last good one.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	r.see(fixture.Labelling("good"), lifecycle.Activated, "")
	for i := range 2 * maxRevisions {
		r.see(fixture.Labelling(fmt.Sprint("bad", i)), lifecycle.Failed, "")
	}
	if got := r.kept("p"); len(got) != maxRevisions || got[0] != "1 good Active" || got[9] != "21 bad19 Refused" {
		t.Errorf("%v", got)
	}
}

// TestHistoryOfAPolicyThatGoes: what is gone does not come back by itself, but
// its revisions are there; what is kept is of the ConfigMap that the policy is
// in now.
func TestHistoryOfAPolicyThatGoes(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	r.see(fixture.Labelling("a"), lifecycle.Activated, "")
	r.see(fixture.ConfigMap("m", "", map[string]string{"p.yaml": "]"}), lifecycle.Activated, "")
	if r.store.good("p") == nil {
		t.Error("it may be in what cannot be read")
	}
	r.see(fixture.ConfigMap("m", "", nil), lifecycle.Activated, "")
	if got := r.kept("p"); len(got) != 1 || got[0] != "1 a Stopped" || r.store.good("p") != nil {
		t.Errorf("%v, good is %+v", got, r.store.good("p"))
	}
	r.see(fixture.ConfigMap("other", "", map[string]string{"p.yaml": fixture.Policy("p", "a")}), lifecycle.Activated, "")
	if e := r.store.good("p"); e == nil || e.Owner != "other" || e.Number != 2 || e.ConfigMap() != "other" {
		t.Errorf("%+v", e)
	}
	for i := range 2 * maxStopped {
		r.see(fixture.ConfigMap("m", "", map[string]string{"q.yaml": fixture.Policy(fmt.Sprint("q", i), "a")}), lifecycle.Activated, "")
	}
	if n := len(r.store.entries); n > maxStopped+2 {
		t.Errorf("of %d policies something is kept", n)
	}
}

// TestStoppedPolicies: a policy that was in force and is not there counts as stopped, also
// after a restart, until it is there again or its history is gone. One that was disabled does
// not.
func TestStoppedPolicies(t *testing.T) {
	t.Parallel()
	in := func(mode string, texts map[string]string) *source.ConfigMap {
		return fixture.ConfigMap("m", mode, texts)
	}
	text := map[string]string{"p.yaml": fixture.Policy("p", "a")}
	for name, tc := range map[string]struct {
		next    *source.ConfigMap
		stopped bool
	}{
		"it runs":                    {in("", text), false},
		"its ConfigMap is not read":  {fixture.ConfigMap("other", "", nil), true},
		"it is not in its ConfigMap": {in("", nil), true},
		"disabled":                   {in("Disabled", text), false},
		"disabled, and taken out":    {in("Disabled", nil), false},
		"in the shadow":              {in("Shadow", text), false},
	} {
		r := newHistorian(t)
		r.see(in("", text), lifecycle.Activated, "")
		r.see(tc.next, lifecycle.Activated, "")
		if got := len(r.store.stopped) > 0; got != tc.stopped {
			t.Errorf("%s: %v", name, r.store.stopped)
		}
		if !tc.stopped {
			continue
		}
		client := r.store.client
		r.store = newHistoryStore(client, "ns", r.checker, fixture.Log())
		if err := r.store.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.see(tc.next, lifecycle.Activated, "")
		if len(r.store.stopped) != 1 || r.store.confirmStopped(t.Context()) {
			t.Errorf("%s: after a restart %v", name, r.store.stopped)
		}
		for _, e := range r.store.entries["p"] {
			if err := client.AppsV1().ControllerRevisions("ns").Delete(t.Context(), e.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if !r.store.confirmStopped(t.Context()) {
			t.Errorf("%s: the history is gone, and it still counts", name)
		}
	}
}

// TestHistoryOfADisabledPolicy: what its text disables does not come back by itself when
// that cannot be read any more. What the annotation disables has a last good revision
// still, and so has what the annotation enforces in spite of its text.
func TestHistoryOfADisabledPolicy(t *testing.T) {
	t.Parallel()
	text := fixture.Policy("p", "a")
	disabled := text + "  mode: Disabled\n"
	for name, tc := range map[string]struct{ annotation, text, want string }{
		"by its text":                    {"", disabled, "1 a Stopped"},
		"by the annotation":              {"Disabled", text, "1 a Active"},
		"by both":                        {"Disabled", disabled, "1 a Stopped"},
		"in spite of its text it is not": {"Enforce", disabled, "1 a Active"},
	} {
		r := newHistorian(t)
		r.see(aged(0, "m", "", text), lifecycle.Activated, "")
		for _, next := range []string{tc.text, "foo: [bar"} {
			r.see(aged(0, "m", tc.annotation, next), "", "")
			if got := strings.Join(r.kept("p"), ", "); got != tc.want {
				t.Errorf("%s, %s: %s, want %s", name, next, got, tc.want)
			}
		}
		if r.see(aged(0, "m", "", text), lifecycle.Activated, ""); r.store.good("p") == nil {
			t.Errorf("%s: enabled again, there is no last good revision", name)
		}
	}
	r, texts := newHistorian(t), map[string]string{}
	for i := range 2 * maxStopped {
		texts[fmt.Sprintf("q%d.yaml", i)] = fixture.Policy(fmt.Sprint("q", i), "a")
	}
	r.see(fixture.ConfigMap("m", "", texts), lifecycle.Activated, "")
	for key := range texts {
		texts[key] += "  mode: Disabled\n"
	}
	r.see(fixture.ConfigMap("m", "", texts), "", "")
	if n := len(r.store.entries); n != len(texts) {
		t.Errorf("of %d disabled policies %d are kept", len(texts), n)
	}
}

// TestHistoryHasRoom: a large file of many policies is kept in few revisions,
// and what runs before what does not.
func TestHistoryHasRoom(t *testing.T) {
	t.Parallel()
	s := newHistorian(t).store
	entry := func(policy string, n int64, result history.Result) *history.Entry {
		return &history.Entry{Copy: history.Copy{Policy: policy, Text: strings.Repeat("x", maxKept/4)}, Number: n, Owner: "m", Result: result, Edited: time.Unix(n, 0)}
	}
	s.entries["p"] = []*history.Entry{entry("p", 1, history.Active), entry("p", 2, history.Active)}
	s.entries["q"] = []*history.Entry{entry("q", 1, history.Active), entry("q", 3, history.Refused)}
	if err := s.room(t.Context(), entry("r", 1, history.Active)); err != nil || len(s.entries["p"])+len(s.entries["q"]) != 3 || s.entries["p"][0].Number != 2 {
		t.Errorf("%v: %v %v", err, s.entries["p"], s.entries["q"])
	}
	s.entries["r"], s.entries["s"] = []*history.Entry{entry("r", 1, history.Active)}, []*history.Entry{entry("s", 1, history.Active)}
	if s.room(t.Context(), entry("t", 1, history.Active)) == nil {
		t.Error("there is no bound")
	}
	if err := s.room(t.Context(), entry("s", 2, history.Active)); err != nil {
		t.Errorf("a revision does not take the place of the one before: %v", err)
	}
	other := entry("t", 1, history.Active)
	if other.Owner = types.UID("other"); s.room(t.Context(), other) != nil {
		t.Error("there is one bound for all")
	}
}

// TestAuthor: who wrote a revision is who wrote the text, or the values if the
// text is the same.
func TestAuthor(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	at := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	for i, tc := range []struct {
		value, given string
		by           string
		hour         int
	}{{"${params.value}", "x", "helm", 1}, {"${params.value}", "y", "kubectl-edit", 3}, {"is-${params.value}", "y", "helm", 1}} {
		m, values := fixture.Labelling(tc.value), fixture.ConfigMap("values", "", map[string]string{"p": "value: " + tc.given})
		m.Edits, values.Edits = map[string]source.Edit{"p.yaml": {Manager: "helm", At: at(1)}}, map[string]source.Edit{"p": {Manager: "kubectl-edit", At: at(3)}}
		c := source.NewCatalog([]*source.Contents{m.Read()}, []*source.Values{values.ReadParams()}, nil)
		checked := r.checker.Text(t.Context(), c.Units["p"])
		r.store.keep(t.Context(), c, stateOf("p", checked, lifecycle.Report{Event: lifecycle.Activated, InForce: c.Units["p"].Revision()}))
		e := r.store.good("p")
		if e == nil || e.Number != int64(i+1) || e.Author != tc.by || !e.Edited.Equal(at(tc.hour)) {
			t.Errorf("%d: %+v", i, e)
		}
	}
	list, err := r.store.client.AppsV1().ControllerRevisions("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 3 {
		t.Errorf("%v (%v)", list, err)
	}
}

// TestAuthorOfValues: an edit of values is never a rollback, also when one is removed, of
// which nobody is known to have done it.
func TestAuthorOfValues(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	begun := time.Now().Add(-time.Hour).Truncate(time.Second)
	type edit struct{ manager, text, given string }
	var rolledBack, bob source.Edit
	for i, e := range []edit{{"helm", "a-${params.value}", ""}, {"helm", "b-${params.value}", ""}, {history.RollbackManager, "a-${params.value}", ""}, {"bob", "a-${params.value}", "value: y"}, {"", "a-${params.value}", ""}} {
		m, values := fixture.Labelling(e.text), fixture.ConfigMap("values", "", map[string]string{})
		at := source.Edit{Manager: e.manager, At: begun.Add(time.Duration(i) * time.Minute)}
		switch {
		case i < 3:
			rolledBack = at
		case e.given != "":
			bob = at
			values.Data["p"], values.Edits = e.given, map[string]source.Edit{"p": bob}
		}
		m.Edits = map[string]source.Edit{"p.yaml": rolledBack}
		c := source.NewCatalog([]*source.Contents{m.Read()}, []*source.Values{values.ReadParams()}, nil)
		checked := r.checker.Text(t.Context(), c.Units["p"])
		r.store.keep(t.Context(), c, stateOf("p", checked, lifecycle.Report{Event: lifecycle.Activated, InForce: c.Units["p"].Revision()}))
	}
	var got []string
	for _, e := range r.store.entries["p"] {
		got = append(got, fmt.Sprint(e.Number, " ", e.Author, " ", e.Result))
	}
	if d := cmp.Diff([]string{"1 helm Active", "2 helm RolledBack", "3 edict-rollback Active", "4 bob Active", "5  Active"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if last := r.store.good("p"); last.Edited.Before(bob.At.Add(time.Minute)) {
		t.Errorf("the last edit is of %v, the one before of %v", last.Edited, bob.At)
	}
}

// TestFallback: a revision that is to run comes with the last good one, unless
// something runs already.
func TestFallback(t *testing.T) {
	t.Parallel()
	s := newManaged(t)
	s.see(nil, fixture.Labelling("a"))
	now := s.checker.Text(t.Context(), fixture.Labelling("b").Read().Units[0])
	if got := s.assigner.withFallback("p", &now.Revision); got.Fallback == nil || got.Fallback.Unit.Revision() == now.Unit.Revision() {
		t.Errorf("%+v", got)
	}
	same := s.checker.Text(t.Context(), fixture.Labelling("a").Read().Units[0])
	if got := s.assigner.withFallback("p", &same.Revision); got.Fallback != nil {
		t.Error("it is its own fallback")
	}
	s.policies.Report("p", s.policies.Ticket("p"), lifecycle.Report{Event: lifecycle.Blocked, InForce: "x"}, time.Now())
	if got := s.assigner.withFallback("p", &now.Revision); got.Fallback != nil {
		t.Error("something runs already")
	}
}
