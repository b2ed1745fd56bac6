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
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// clusterOf is a client of a cluster with some objects.
func clusterOf(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), edictv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// judging is a webhook of a cluster with some objects, whose sets open what they allow.
func judging(t *testing.T, objects ...client.Object) *admission {
	t.Helper()
	var allowed guard.Guard
	for _, o := range objects {
		if s, is := o.(*edictv1.PolicySet); is {
			allowed.Add(s.Name, false, source.NewSet(s).Allowances())
		}
	}
	return newAdmission(Options{
		Client: kubefake.NewClientset(), Log: fixture.Log(), Namespace: fixture.Namespace, Sets: clusterOf(t, objects...),
		Checker: check.New(check.Options{Kinds: fixture.Kinds(), Guard: func() guard.Guard { return allowed }, Log: fixture.Log(), Admitting: true}),
		TryOut:  func(context.Context, *plan.Policy) error { return nil },
	})
}

func mapOf(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Namespace, Name: name}, Data: data}
}

// TestAuthor: an Event names the author of a text that is admitted, except for a dry run.
func TestAuthor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text   string
		dryRun bool
		want   int
	}{"admitted": {fixture.Policy("p", "a"), false, 1}, "a trial": {fixture.Policy("p", "a"), true, 0}, "refused": {strings.Replace(fixture.Policy("p", "a"), "kind: Node", "knid: Node", 1), false, 0}} {
		a := judging(t, setOf(nil))
		r := editText(t, nil, mapOf("m", map[string]string{"p.yaml": tc.text}))
		r.DryRun, r.UserInfo.Username = &tc.dryRun, "alice"
		a.Handle(t.Context(), r)
		list, err := a.options.Client.CoreV1().Events(fixture.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != tc.want {
			t.Errorf("%s: %v, %v", name, list.Items, err)
		}
		for _, e := range list.Items {
			if !strings.HasPrefix(e.Message, "alice writes the text sha256:") || e.InvolvedObject.Name != "s" || e.Reason != "TextWritten" {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// setOf is a set named s that enforces the policies of the ConfigMap m, which may label Nodes.
func setOf(edit func(*edictv1.PolicySet)) *edictv1.PolicySet {
	s := &edictv1.PolicySet{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Namespace, Name: "s", Generation: 1}}
	s.Spec.Mode, s.Spec.Source.ConfigMap.Name = edictv1.ModeEnforce, "m"
	core := ""
	for _, name := range []string{"p", "q"} {
		s.Spec.Allow = append(s.Spec.Allow, edictv1.Allowance{Policy: name, APIGroup: &core, Kind: "Node", Fields: []string{"metadata.labels.p", "metadata.labels.q", "metadata.labels.a"}})
	}
	if edit != nil {
		edit(s)
	}
	return s
}

// request asks about an edit of an object; a nil object is none.
func request[T client.Object](t *testing.T, kind string, before, now *T) ctrladmission.Request {
	t.Helper()
	r := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Namespace: fixture.Namespace, Kind: metav1.GroupVersionKind{Kind: kind}, Operation: admissionv1.Update}}
	for object, to := range map[*T]*runtime.RawExtension{before: &r.OldObject, now: &r.Object} {
		if object == nil {
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		to.Raw, r.Name = text, (*object).GetName()
	}
	return r
}

func editText(t *testing.T, before, now *corev1.ConfigMap) ctrladmission.Request {
	t.Helper()
	return request(t, "ConfigMap", pointer(before), pointer(now))
}

func editSet(t *testing.T, before, now *edictv1.PolicySet) ctrladmission.Request {
	t.Helper()
	if before != nil && now != nil && cmp.Diff(before.Spec, now.Spec) != "" {
		now.Generation = before.Generation + 1 // as the API server does
	}
	return request(t, "PolicySet", pointer(before), pointer(now))
}

func pointer[T any](v *T) **T {
	if v == nil {
		return nil
	}
	return &v
}

// want compares an answer: a refusal whose message begins with a text, or warnings.
func want(t *testing.T, r ctrladmission.Response, refused string, warnings ...string) {
	t.Helper()
	message := ""
	if r.Result != nil {
		message = r.Result.Message
	}
	if r.Allowed != (refused == "") || !strings.Contains(message, refused) {
		t.Errorf("allowed %v with %q, want %q", r.Allowed, message, refused)
	}
	if len(r.Warnings) != len(warnings) {
		t.Errorf("the warnings are %q, want %q", r.Warnings, warnings)
		return
	}
	for i, w := range warnings {
		if !strings.Contains(r.Warnings[i], w) {
			t.Errorf("the warnings are %q, want %q", r.Warnings, warnings)
		}
	}
}

// TestFailsOpen: the webhook admits objects that it cannot check, and objects of no set.
func TestFailsOpen(t *testing.T) {
	t.Parallel()
	broken := mapOf("m", map[string]string{"a.yaml": "]"})
	busy := judging(t, setOf(nil))
	for range reviewsUnderWay {
		busy.slots <- struct{}{}
	}
	elsewhere := judging(t, setOf(nil))
	elsewhere.options.Namespace = "other"
	unreadable := judging(t)
	unreadable.options.Sets = interceptor.NewClient(clusterOf(t), interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("no answer")
	}})
	for name, tc := range map[string]struct {
		a       *admission
		raw     string // instead of the object
		warning string // "" is none
	}{
		"no set refers to it":    {judging(t), "", ""},
		"another set":            {judging(t, setOf(func(s *edictv1.PolicySet) { s.Spec.Source.ConfigMap.Name = "n" })), "", ""},
		"what cannot be read":    {judging(t, setOf(nil)), "]", "it cannot be read"},
		"too many at once":       {busy, "", "too many other reviews are under way"},
		"sets cannot be read":    {unreadable, "", "the PolicySets cannot be read: no answer"},
		"an internal error":      {newAdmission(Options{Namespace: fixture.Namespace, Log: fixture.Log()}), "", "internal error"},
		"of another's namespace": {elsewhere, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			r := editText(t, nil, broken)
			if tc.raw != "" {
				r.Object.Raw = []byte(tc.raw)
			}
			var warnings []string
			if tc.warning != "" {
				warnings = []string{tc.warning}
			}
			want(t, tc.a.Handle(ctx, r), "", warnings...)
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

// TestTexts: a ConfigMap is refused for an error that no set can correct, unless it had it before.
func TestTexts(t *testing.T) {
	t.Parallel()
	good, other := fixture.Policy("p", "${params.value}"), fixture.Policy("q", "a")
	wrong, worse := strings.Replace(good, "params.value", "params.valeu", 1), strings.Replace(other, "kind: Node", "knid: Node", 1)
	digest := "sha256:" + strings.Repeat("0", 64)
	unlocked := func(s *edictv1.PolicySet) { s.Spec.Allow = nil }
	for name, tc := range map[string]struct {
		set         func(*edictv1.PolicySet)
		before, now map[string]string
		refused     string
		warnings    []string
	}{
		"new":                        {nil, nil, map[string]string{"p.yaml": good}, "", nil},
		"new, and wrong":             {nil, nil, map[string]string{"p.yaml": wrong}, "p.yaml:9:", nil},
		"an edit that is wrong":      {nil, map[string]string{"p.yaml": good}, map[string]string{"p.yaml": wrong}, `did you mean "params.value"?`, nil},
		"wrong before":               {nil, map[string]string{"p.yaml": wrong}, map[string]string{"p.yaml": "# a remark\n" + wrong}, "", []string{"p.yaml:10:"}},
		"one of two is mended":       {nil, map[string]string{"p.yaml": wrong, "q.yaml": worse}, map[string]string{"p.yaml": wrong, "q.yaml": other}, "", []string{"p.yaml:9:"}},
		"another error":              {nil, map[string]string{"p.yaml": wrong}, map[string]string{"p.yaml": wrong, "q.yaml": worse}, "q.yaml:5:", nil},
		"values that cannot be read": {nil, map[string]string{"p.yaml": good}, map[string]string{"p.yaml": good, "params.yaml": "p: 1"}, "params.yaml:1:4: error: the params of a policy must be a mapping", nil},
		"values for no param":        {nil, map[string]string{"p.yaml": good}, map[string]string{"p.yaml": good, "params.yaml": "p: {valeu: a}"}, `the policy p has no param "valeu"`, nil},
		"another digest":             {func(s *edictv1.PolicySet) { s.Spec.Source.Digest = digest }, nil, map[string]string{"p.yaml": good}, "", []string{"the set s does not run this text: its spec.source.digest is " + digest}},
		"its digest": {func(s *edictv1.PolicySet) {
			s.Spec.Source.Digest = source.NewConfigMap(mapOf("m", map[string]string{"p.yaml": good})).Digest()
		}, nil, map[string]string{"p.yaml": good}, "", nil},
		"without the allowance":        {unlocked, nil, map[string]string{"p.yaml": good}, "", []string{"the policy s/p may not write metadata.labels.p of Node"}},
		"a mode for nobody":            {func(s *edictv1.PolicySet) { s.Spec.Modes = map[string]edictv1.Mode{"q": edictv1.ModeDisabled} }, nil, map[string]string{"p.yaml": good}, "", []string{`there is no policy "q" in the ConfigMap m`}},
		"a disabled one that is wrong": {func(s *edictv1.PolicySet) { s.Spec.Mode = edictv1.ModeDisabled }, nil, map[string]string{"p.yaml": wrong}, "", nil},
		"what a set has to correct": {func(s *edictv1.PolicySet) {
			s.Spec.Params = map[string]edictv1.Values{"p": {"other": apiextensionsv1.JSON{Raw: []byte("1")}}}
		}, nil, map[string]string{"p.yaml": good}, "", []string{`the policy p has no param "other"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before *corev1.ConfigMap
			if tc.before != nil {
				before = mapOf("m", tc.before)
			}
			want(t, judging(t, setOf(tc.set)).Handle(t.Context(), editText(t, before, mapOf("m", tc.now))), tc.refused, tc.warnings...)
		})
	}
}

// TestTextOfTwoSets: a text is refused if it is wrong for one of the sets that run it.
func TestTextOfTwoSets(t *testing.T) {
	t.Parallel()
	text := map[string]string{"p.yaml": strings.Replace(fixture.Policy("p", "${params.value}"), "params.value", "params.valeu", 1)}
	other := setOf(func(s *edictv1.PolicySet) { s.Name, s.Spec.Mode = "t", edictv1.ModeDisabled })
	want(t, judging(t, other).Handle(t.Context(), editText(t, nil, mapOf("m", text))), "")
	want(t, judging(t, other, setOf(nil)).Handle(t.Context(), editText(t, nil, mapOf("m", text))), "p.yaml:9:")
}

// TestSets: a set is refused for an error that no text can correct. A missing object is a warning.
func TestSets(t *testing.T) {
	t.Parallel()
	text := mapOf("m", map[string]string{"p.yaml": fixture.Policy("p", "${params.value}")})
	values := func(name, raw string) func(*edictv1.PolicySet) {
		return func(s *edictv1.PolicySet) {
			s.Spec.Params = map[string]edictv1.Values{"p": {name: apiextensionsv1.JSON{Raw: []byte(raw)}}}
		}
	}
	rollout := func(interval string) func(*edictv1.PolicySet) {
		five := int32(5)
		return func(s *edictv1.PolicySet) {
			s.Spec.Rollout = &edictv1.Rollout{Steps: []edictv1.Step{{Percent: &five}}, Interval: interval}
		}
	}
	for name, tc := range map[string]struct {
		text     *corev1.ConfigMap
		set      func(*edictv1.PolicySet)
		refused  string
		warnings []string
	}{
		"good":                  {text, nil, "", nil},
		"before its ConfigMap":  {nil, nil, "", []string{"the ConfigMap m does not exist yet: the set waits for it"}},
		"a value":               {text, values("value", `"a"`), "", nil},
		"no value":              {text, values("value", "null"), `spec.params.p.value: error: the param "value" has no value`, nil},
		"no value, and no text": {nil, values("value", "null"), `spec.params.p.value: error: the param "value" has no value`, nil},
		"a value of no param":   {text, values("valeu", `"a"`), "", []string{`the policy p has no param "valeu"`}},
		"steps":                 {text, rollout("10m"), "", nil},
		"steps that are wrong":  {text, rollout("soon"), `spec.rollout: error: interval "soon" is not a duration above 0`, nil},
		"without the allowance": {text, func(s *edictv1.PolicySet) { s.Spec.Allow = nil }, "", []string{"the policy s/p may not write metadata.labels.p of Node"}},
		"a mode for nobody":     {text, func(s *edictv1.PolicySet) { s.Spec.Modes = map[string]edictv1.Mode{"q": edictv1.ModeShadow} }, "", []string{`there is no policy "q" in the ConfigMap m`}},
		"a text that is wrong":  {mapOf("m", map[string]string{"p.yaml": "]"}), nil, "", []string{"p.yaml:1:1: not valid YAML"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{setOf(tc.set)}
			if tc.text != nil {
				objects = append(objects, tc.text.DeepCopy())
			}
			want(t, judging(t, objects...).Handle(t.Context(), editSet(t, nil, setOf(tc.set))), tc.refused, tc.warnings...)
		})
	}
}

// TestStatusOfASet: an edit that changes no spec is not reviewed.
func TestStatusOfASet(t *testing.T) {
	t.Parallel()
	before, now := setOf(nil), setOf(func(s *edictv1.PolicySet) { s.Status.Revision = "1" })
	want(t, judging(t).Handle(t.Context(), editSet(t, before, now)), "")
}

// TestEndingsAreWarnedOf: the deletion of a set, or of a ConfigMap that one runs, warns of the policies that
// end, and of the number of objects with finalizers.
func TestEndingsAreWarnedOf(t *testing.T) {
	t.Parallel()
	three, four := int64(3), int64(4)
	running := setOf(func(s *edictv1.PolicySet) {
		s.Status.Policies = []edictv1.PolicyStatus{{Name: "p"}, {Name: "q"}}
		s.Status.Finalizers = []edictv1.Finalizer{{Kind: "Node", Name: "a", Count: &three}, {Kind: "Pod", Name: "b", Count: &four}, {Kind: "Pod", Name: "c"}}
	})
	quiet := setOf(func(s *edictv1.PolicySet) { s.Status.Policies = []edictv1.PolicyStatus{{Name: "p"}} })
	const holding = "; 7 objects have finalizers of its policies"
	for name, tc := range map[string]struct {
		set  *edictv1.PolicySet
		text bool // the ConfigMap is deleted
		want []string
	}{
		"the set":                     {running, false, []string{"the policies of the set end: p, q" + holding}},
		"a set without finalizers":    {quiet, false, []string{"the policies of the set end: p"}},
		"a set of which nothing runs": {setOf(nil), false, nil},
		"the ConfigMap":               {running, true, []string{"the set s continues with the last good text: it needs the ConfigMap m for the next" + holding}},
		"of a set without finalizers": {quiet, true, []string{"the set s continues with the last good text: it needs the ConfigMap m for the next"}},
	} {
		r := editSet(t, tc.set, nil)
		if tc.text {
			r = editText(t, mapOf("m", nil), nil)
		}
		r.Operation = admissionv1.Delete
		if got := judging(t, tc.set.DeepCopy()).Handle(t.Context(), r); !got.Allowed || cmp.Diff(tc.want, got.Warnings) != "" {
			t.Errorf("%s: %v, -want +got:\n%s", name, got.Allowed, cmp.Diff(tc.want, got.Warnings))
		}
	}
}

// TestTryOut: only authenticated clients receive the effects of an edit on the objects.
// The errors of an expression have contents of objects, and even their number does.
func TestTryOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		authority string
		want      []string
	}{
		"everybody may ask":   {"", nil},
		"the API server asks": {"ca.crt", []string{"p.yaml:1:1: the controller will refuse this edit of s/p: object.data.key is s3cret"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := func(value string) *corev1.ConfigMap {
				return mapOf("m", map[string]string{"p.yaml": fixture.Policy("p", value)})
			}
			a, tried := judging(t, setOf(nil)), 0
			a.options.Config.ClientCA = tc.authority
			a.options.TryOut = func(context.Context, *plan.Policy) error {
				tried++
				return errors.New("object.data.key is s3cret")
			}
			r := a.Handle(t.Context(), editText(t, m("a"), m("b")))
			if d := cmp.Diff(tc.want, r.Warnings); d != "" || !r.Allowed || tried != len(tc.want) {
				t.Errorf("allowed: %v, tried out %d times, warnings (-want +got):\n%s", r.Allowed, tried, d)
			}
		})
	}
}

// TestKinds: what is wrong with several kinds is said once.
func TestKinds(t *testing.T) {
	t.Parallel()
	text := func(when string, kinds ...string) *corev1.ConfigMap {
		return mapOf("m", map[string]string{"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {kinds: [{apiVersion: apps/v1, kind: " + strings.Join(kinds, "}, {apiVersion: apps/v1, kind: ") + "}]}\n" +
			"  rules: [{name: r, when: " + when + ", do: [{labels: {set: {a: b}}}]}]\n"})
	}
	before := text("object.metadata.name == 'a'", "Deployment", "StatefulSet", "DaemonSet")
	r := judging(t, setOf(nil)).Handle(t.Context(), editText(t, before, text("object.metadata.nme == 'a'", "Deployment", "StatefulSet", "DaemonSet")))
	if r.Allowed || strings.Count(r.Result.Message, "no field") != 1 || strings.Contains(r.Result.Message, "for the kind") {
		t.Errorf("%v, %+v", r.Allowed, r.Result)
	}
}

// TestWorse finds new errors, also if the old ones have moved.
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

// stuck is a process that answers only once the request is canceled.
type stuck struct{}

// Do implements expr.Limiter.
func (stuck) Do(ctx context.Context, _ []byte) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestOverrunGivesSlotBack: texts that take longer than the API server waits do not keep the
// webhook from the next ones.
func TestOverrunGivesSlotBack(t *testing.T) {
	t.Parallel()
	a := judging(t, setOf(nil))
	judge := check.NewJudge(func(string, time.Duration) expr.Limiter { return stuck{} })
	a.options.Checker = check.New(check.Options{Kinds: fixture.Kinds(), Compiler: source.NewCompiler(nil, judge.Accept), Guard: func() guard.Guard { return guard.New(nil).Assuming() }, Log: fixture.Log()})
	text := mapOf("m", map[string]string{"p.yaml": fixture.Policy("p", "a")})
	for range reviewsUnderWay {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if got := a.Handle(ctx, editText(t, nil, text)); !got.Allowed || len(got.Warnings) != 1 {
			t.Errorf("%+v", got)
		}
		cancel()
	}
	for range reviewsUnderWay { // they come back
		a.slots <- struct{}{}
	}
}
