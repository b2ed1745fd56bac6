package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/test/fixture"
)

// request asks about a ConfigMap, given as JSON.
func request(object string) ctrladmission.Request {
	return ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Namespace: "ns", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(object)},
	}}
}

// TestFailsOpen: the webhook admits what it cannot check, and what is not its concern.
func TestFailsOpen(t *testing.T) {
	t.Parallel()
	const labelled = `{"metadata":{"name":"m","namespace":"ns","labels":{"edict.dev/policy":"true"}},"data":{"a.yaml":"]"}}`
	quiet := Options{Namespace: "ns", Log: fixture.Log()}
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
		"too many at once":       {busy, labelled, "too many other reviews are under way"},
		"an internal error":      {newAdmission(quiet), labelled, "internal error"},
		"of another's namespace": {newAdmission(Options{Namespace: "other", Log: quiet.Log}), labelled, ""},
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

// TestReviewTimeout: the answer comes before the API server gives up.
func TestReviewTimeout(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{
		"": 4 * time.Second, "?timeout=5s": 4 * time.Second, "?timeout=1s": 800 * time.Millisecond, "?timeout=30s": 24 * time.Second,
		"?timeout=10h": 24 * time.Second, "?timeout=-1s": 4 * time.Second, "?timeout=soon": 4 * time.Second,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path+query, http.NoBody)
		begin := time.Now()
		deadline, ok := reviewContext(r).Deadline()
		if got := deadline.Sub(begin); !ok || got < want || got > want+time.Second {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

// judging is a webhook that knows ConfigMaps.
func judging(t *testing.T, maps ...*corev1.ConfigMap) *admission {
	t.Helper()
	client := fake.NewClientset()
	for _, m := range maps {
		if _, err := client.CoreV1().ConfigMaps("ns").Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	store, err := configmap.NewStore(t.Context(), client, "ns", func() {})
	if err != nil {
		t.Fatal(err)
	}
	if !store.Wait(t.Context()) {
		t.Fatal("the ConfigMaps cannot be read")
	}
	return newAdmission(Options{
		Client: client, Log: fixture.Log(), Namespace: "ns", Store: store, Checker: fixture.Checker(),
		TryOut: func(context.Context, *plan.Policy) error { return nil },
	})
}

func configMapOf(label, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{label: "true"}}, Data: data}
}

// edit asks about an edit of a ConfigMap.
func edit(t *testing.T, before, now *corev1.ConfigMap) ctrladmission.Request {
	t.Helper()
	raw := func(m *corev1.ConfigMap) runtime.RawExtension {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: text}
	}
	return ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Namespace: "ns", Operation: admissionv1.Update, Object: raw(now), OldObject: raw(before)}}
}

// TestValuesAreTried: a value with which an expression of a policy fails in every evaluation
// is refused where it is set.
func TestValuesAreTried(t *testing.T) {
	t.Parallel()
	values := func(text string) *corev1.ConfigMap {
		return configMapOf(v1alpha1.LabelParams, "values", map[string]string{"p": text})
	}
	policy := strings.Replace(fixture.Policy("p", "${string(key.name == 'a' || int(params.value) > 1)}"), "{value: x}", "{value: \"1\"}", 1)
	a := judging(t, configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": policy}), values(`value: "1"`))
	if r := a.Handle(t.Context(), edit(t, values(`value: "1"`), values(`value: "2"`))); !r.Allowed {
		t.Errorf("a right value: %v", r.Result)
	}
	if r := a.Handle(t.Context(), edit(t, values(`value: "1"`), values("value: y"))); r.Allowed || !strings.Contains(r.Result.Message, `p:1:8: error: the value "y" given for the param p.value: `) {
		t.Errorf("a wrong value: %v, %v", r.Allowed, r.Result)
	}
}

// TestPolicyAndValuesChangeTogether: a new revision of a policy has another
// param, and so have the values for it, which come a moment later.
func TestPolicyAndValuesChangeTogether(t *testing.T) {
	t.Parallel()
	before, after := fixture.Policy("p", "${params.value}"), strings.ReplaceAll(strings.ReplaceAll(fixture.Policy("p", "${params.value}"), "params.value", "params.other"), "{value: x}", "{other: x}")
	policy := func(text string) *corev1.ConfigMap {
		return configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": text})
	}
	values := func(text string) *corev1.ConfigMap {
		return configMapOf(v1alpha1.LabelParams, "values", map[string]string{"p": text})
	}
	a := judging(t, policy(before), values("value: y"))
	r := a.Handle(t.Context(), edit(t, policy(before), policy(after)))
	if !r.Allowed || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `ns/values/p:1:8: the policy p has no param "value"`) {
		t.Errorf("the policy first: %v, %q, %v", r.Allowed, r.Warnings, r.Result)
	}
	r = a.Handle(t.Context(), edit(t, values("value: y"), values("other: y")))
	if r.Allowed || !strings.Contains(r.Result.Message, `p:1:8: error: the policy p has no param "other"`) {
		t.Errorf("the values for what is not there: %v, %v", r.Allowed, r.Result)
	}
	a.wait = func(ctx context.Context) { // the cache hears of the policy while the values are validated
		if _, err := a.options.Client.CoreV1().ConfigMaps("ns").Update(ctx, policy(after), metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
		for shown := false; !shown && ctx.Err() == nil; <-time.After(time.Millisecond) {
			catalog, err := a.options.Store.Catalog(&configmap.Cache{}, a.options.Overrides)
			shown = err == nil && strings.Contains(string(catalog.Units["p"].File.Text), "params.other")
		}
	}
	if r = a.Handle(t.Context(), edit(t, values("value: y"), values("other: y"))); !r.Allowed || len(r.Warnings) > 0 {
		t.Errorf("the values second: %v, %q, %v", r.Allowed, r.Warnings, r.Result)
	}
}

// TestKinds: a kind that is removed is a policy that stops, and what is wrong with several
// kinds is said once.
func TestKinds(t *testing.T) {
	t.Parallel()
	text := func(when string, kinds ...string) map[string]string {
		return map[string]string{"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {kinds: [{apiVersion: apps/v1, kind: " + strings.Join(kinds, "}, {apiVersion: apps/v1, kind: ") + "}]}\n" +
			"  rules: [{name: r, when: " + when + ", do: [{labels: {set: {a: b}}}]}]\n"}
	}
	before := configMapOf(v1alpha1.LabelPolicy, "m", text("object.metadata.name == 'a'", "Deployment", "StatefulSet", "DaemonSet"))
	a := judging(t, before)
	r := a.Handle(t.Context(), edit(t, before, configMapOf(v1alpha1.LabelPolicy, "m", text("object.metadata.name == 'a'", "Deployment", "DaemonSet"))))
	if !r.Allowed || len(r.Warnings) != 1 || r.Warnings[0] != "the policy p-statefulset stops: it is no longer in the ConfigMap" {
		t.Errorf("%v, %q", r.Allowed, r.Warnings)
	}
	r = a.Handle(t.Context(), edit(t, before, configMapOf(v1alpha1.LabelPolicy, "m", text("object.metadata.nme == 'a'", "Deployment", "StatefulSet", "DaemonSet"))))
	if r.Allowed || strings.Count(r.Result.Message, "no field") != 1 || strings.Contains(r.Result.Message, "for the kind") {
		t.Errorf("%v, %q", r.Allowed, r.Result.Message)
	}
	r = a.Handle(t.Context(), edit(t, nil, configMapOf(v1alpha1.LabelParams, "values", map[string]string{"p": "n: 1"})))
	if r.Allowed || strings.Count(r.Result.Message, `the policy p has no param "n"`) != 1 {
		t.Errorf("%v, %q", r.Allowed, r.Result.Message)
	}
}

// TestEndingsAreWarnedOf: who takes a policy away is told which, however that
// happens.
func TestEndingsAreWarnedOf(t *testing.T) {
	t.Parallel()
	both := map[string]string{"p.yaml": fixture.Policy("p", "a"), "q.yaml": fixture.Policy("q", "a")}
	m := func(data map[string]string, label string) *corev1.ConfigMap {
		out := configMapOf(v1alpha1.LabelPolicy, "m", data)
		out.Labels[v1alpha1.LabelPolicy] = label
		return out
	}
	unlabelled := m(both, "true")
	unlabelled.Labels = nil
	disabled := m(both, "true")
	disabled.Annotations = map[string]string{v1alpha1.AnnotationMode: "Disabled"}
	a := judging(t, m(both, "true"), configMapOf(v1alpha1.LabelPolicy, "other", map[string]string{"r.yaml": fixture.Policy("r", "a")}))
	for name, tc := range map[string]struct {
		now  *corev1.ConfigMap // nil is deleted
		want string            // "" is no warning
	}{
		"nothing ends":      {m(map[string]string{"p.yaml": fixture.Policy("p", "b"), "q.yaml": fixture.Policy("q", "a")}, "true"), ""},
		"deleted":           {nil, "the policies p, q stop: the ConfigMap is deleted"},
		"without a label":   {unlabelled, "the policies p, q stop: it has no label edict.dev/policy=true"},
		"another label":     {m(both, "True"), `the policies p, q stop: its label edict.dev/policy is "True", and only "true" counts`},
		"empty":             {m(nil, "true"), "the policies p, q stop: they are no longer in the ConfigMap"},
		"one is renamed":    {m(map[string]string{"p.yaml": fixture.Policy("p2", "a"), "q.yaml": fixture.Policy("q", "a")}, "true"), "the policy p stops: it is no longer in the ConfigMap"},
		"they are disabled": {disabled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := m(both, "true")
			r := edit(t, before, before)
			if tc.now == nil {
				r.Operation, r.Object = admissionv1.Delete, runtime.RawExtension{}
			} else {
				r = edit(t, before, tc.now)
			}
			got := a.Handle(t.Context(), r)
			if !got.Allowed || tc.want == "" && len(got.Warnings) > 0 || tc.want != "" && (len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], tc.want)) {
				t.Errorf("%v %q, want %q", got.Allowed, got.Warnings, tc.want)
			}
		})
	}
}

// TestTryOut: what an edit does to the objects is told only to clients that are
// authenticated. The errors of an expression say what is in objects, and whether there is
// one tells it bit by bit.
func TestTryOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		authority string
		want      []string
	}{
		"everybody may ask":   {"", nil},
		"the API server asks": {"ca.crt", []string{"p.yaml:1:1: the controller will refuse this edit of p: object.data.key is s3cret"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := func(value string) *corev1.ConfigMap {
				return configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": fixture.Policy("p", value)})
			}
			a, tried := judging(t, m("a")), 0
			a.options.Config.ClientCA = tc.authority
			a.options.TryOut = func(context.Context, *plan.Policy) error {
				tried++
				return errors.New("object.data.key is s3cret")
			}
			r := a.Handle(t.Context(), edit(t, m("a"), m("b")))
			if d := cmp.Diff(tc.want, r.Warnings); d != "" || !r.Allowed || tried != len(tc.want) {
				t.Errorf("allowed: %v, tried out %d times, warnings (-want +got):\n%s", r.Allowed, tried, d)
			}
		})
	}
}

// TestWorse finds errors that were not there, wherever the old ones have moved.
func TestWorse(t *testing.T) {
	t.Parallel()
	problem := func(file string, line int, message string) document.Problem {
		return document.Problem{Position: document.Position{File: file, Line: line}, Severity: document.Error, Message: message, Source: "text"}
	}
	old := []document.Problem{problem("a", 1, "x"), problem("a", 2, "y")}
	if worse([]document.Problem{problem("a", 9, "twice, first at a:2:3")}, []document.Problem{problem("a", 10, "twice, first at a:3:3")}) {
		t.Error("a mistake that moves is another")
	}
	for name, tc := range map[string]struct {
		now  []document.Problem
		want bool
	}{
		"nothing is wrong": {nil, false}, "one is mended": {old[1:], false}, "they have moved": {[]document.Problem{problem("a", 7, "x")}, false},
		"another": {append(old[:1:1], problem("a", 2, "z")), true}, "the same in another file": {[]document.Problem{problem("b", 1, "x")}, true},
		"the same once more": {[]document.Problem{problem("a", 1, "x"), problem("a", 3, "x")}, true}, "the line has changed": {[]document.Problem{{Position: document.Position{File: "a", Line: 1}, Severity: document.Error, Message: "x", Source: "another text"}}, false},
	} {
		if got := worse(old, tc.now); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSame: who annotates changes nothing that is judged.
func TestSame(t *testing.T) {
	t.Parallel()
	one := func(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"edict.dev/policy": "true"}, Annotations: map[string]string{}}, Data: map[string]string{"a": "b"}}
		change(m)
		return m
	}
	first := one(func(*corev1.ConfigMap) {})
	for name, tc := range map[string]struct {
		change func(*corev1.ConfigMap)
		want   bool
	}{
		"the status": {func(m *corev1.ConfigMap) { m.Annotations["edict.dev/status"] = "Active" }, true}, "a label of others": {func(m *corev1.ConfigMap) { m.Labels["x"] = "y" }, true},
		"the data": {func(m *corev1.ConfigMap) { m.Data["a"] = "c" }, false}, "the mode": {func(m *corev1.ConfigMap) { m.Annotations["edict.dev/mode"] = "Shadow" }, false},
		"the label": {func(m *corev1.ConfigMap) { m.Labels["edict.dev/policy"] = "false" }, false},
	} {
		if got := same(first, one(tc.change)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// stuck is a process that answers only once the request is canceled.
type stuck struct{}

// Do implements rego.Evaluator.
func (stuck) Do(ctx context.Context, _ *rego.Request) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestOverrunGivesSlotBack: texts that take longer than the API server waits do not keep the
// webhook from the next ones.
func TestOverrunGivesSlotBack(t *testing.T) {
	t.Parallel()
	a := judging(t)
	a.options.Checker = check.New(check.Options{Kinds: fixture.Kinds(), Judge: check.NewJudge(stuck{}), Guard: guard.New(nil).Assuming(), Log: fixture.Log()})
	text := configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": fixture.Policy("p", "a")})
	for range reviewsUnderWay {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if got := a.Handle(ctx, edit(t, nil, text)); !got.Allowed || len(got.Warnings) != 1 {
			t.Errorf("%+v", got)
		}
		cancel()
	}
	for range reviewsUnderWay { // they come back
		a.slots <- struct{}{}
	}
}
