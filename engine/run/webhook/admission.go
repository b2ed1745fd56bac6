package webhook

import (
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run/check"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"

	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// admission checks PolicySets and their ConfigMaps before they are stored, in the same way as before
// they take effect; only tests are not run. It fails open: what it cannot validate is
// admitted with a warning, and a bad text is refused later.
type admission struct {
	options Options
	// slots are for the reviews at one time. A review that took too long keeps its
	// slot until it is done.
	slots chan struct{}
}

// reviewsUnderWay is how many objects are checked at once.
const reviewsUnderWay = 2

func newAdmission(o Options) *admission {
	return &admission{options: o, slots: make(chan struct{}, reviewsUnderWay)}
}

const (
	// defaultTimeout is how long the API server waits if it does not say, and maxTimeout
	// the longest that it may.
	defaultTimeout, maxTimeout = 5 * time.Second, 30 * time.Second
	// answering is the part of that, one in five, that is kept for the answer.
	answering = 5
)

// reviewContext ends before the API server stops waiting, by the timeout of its
// request: with failurePolicy Fail it would reject what was not checked.
func reviewContext(r *http.Request) context.Context {
	wait, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || wait <= 0 {
		wait = defaultTimeout
	}
	wait = min(wait, maxTimeout)
	ctx, cancel := context.WithTimeout(r.Context(), wait-wait/answering)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// Handle implements admission.Handler.
func (a *admission) Handle(ctx context.Context, r ctrladmission.Request) ctrladmission.Response {
	select {
	case a.slots <- struct{}{}:
	case <-ctx.Done():
		return pass("too many other reviews are under way")
	}
	done := make(chan ctrladmission.Response, 1)
	go func() {
		defer func() { <-a.slots }()
		defer func() {
			if v := recover(); v != nil {
				a.options.Log.Error("internal error (panic) in the webhook", "fault", fmt.Sprint(v))
				done <- pass("internal error: see the log of the controller")
			}
		}()
		done <- a.review(ctx, r)
	}()
	select {
	case response := <-done:
		return response
	case <-ctx.Done():
		return pass("it took too long")
	}
}

// pass admits an object that could not be checked.
func pass(reason string) ctrladmission.Response {
	reviewed("passed")
	return ctrladmission.Allowed("").WithWarnings("edict has not checked this object: " + reason)
}

func (a *admission) review(ctx context.Context, r ctrladmission.Request) ctrladmission.Response {
	if r.Namespace != a.options.Namespace {
		return ctrladmission.Allowed("")
	}
	var response ctrladmission.Response
	var err error
	if r.Kind.Kind == "PolicySet" {
		response, err = a.reviewSet(ctx, r)
	} else {
		response, err = a.reviewText(ctx, r)
	}
	if err != nil {
		return pass(err.Error())
	}
	return response
}

// decoded reads the object of a request, and the one before; nil if there is none.
func decoded[T any](r ctrladmission.Request) (before, now *T, err error) {
	for raw, to := range map[*runtime.RawExtension]**T{&r.OldObject: &before, &r.Object: &now} {
		if len(raw.Raw) == 0 {
			continue
		}
		*to = new(T)
		if err := json.Unmarshal(raw.Raw, *to); err != nil {
			return nil, nil, fmt.Errorf("it cannot be read: %w", err)
		}
	}
	return before, now, nil
}

// reviewText reviews a ConfigMap. It is refused for errors in it that no set can correct, unless it had
// them before: who corrects one of two errors is not stopped by the other.
func (a *admission) reviewText(ctx context.Context, r ctrladmission.Request) (ctrladmission.Response, error) {
	before, now, err := decoded[corev1.ConfigMap](r)
	if err != nil {
		return ctrladmission.Response{}, err
	}
	var list edictv1.PolicySetList
	if err := a.options.Sets.List(ctx, &list, client.InNamespace(r.Namespace)); err != nil {
		return ctrladmission.Response{}, fmt.Errorf("the PolicySets cannot be read: %w", err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(s edictv1.PolicySet) bool { return s.Spec.Source.ConfigMap.Name != r.Name })
	if len(list.Items) == 0 {
		return ctrladmission.Allowed(""), nil
	}
	var shown []string
	for i := range list.Items {
		set := &list.Items[i]
		if now == nil {
			shown = append(shown, fmt.Sprintf("the set %s continues with the last good text: it needs the ConfigMap %s for the next%s", set.Name, r.Name, holding(set)))
			continue
		}
		contents := source.Read(source.NewSet(set), source.NewConfigMap(now))
		if wanted := set.Spec.Source.Digest; wanted != "" && wanted != contents.Digest() {
			shown = append(shown, fmt.Sprintf("the set %s does not run this text: its spec.source.digest is %s, and that of the text is %s", set.Name, wanted, contents.Digest()))
		}
		problems := a.problems(ctx, contents)
		if ctx.Err() != nil {
			return ctrladmission.Response{}, ctx.Err()
		}
		problems = onlyIn(problems, contents.Path()+"/")
		if document.HasErrors(problems) && (before == nil || worse(onlyIn(a.problems(ctx, source.Read(source.NewSet(set), source.NewConfigMap(before))), contents.Path()+"/"), problems)) {
			reviewed("refused")
			return refusal(r, contents, problems), nil
		}
		shown = append(shown, warnings(contents, problems)...)
		if r.DryRun == nil || !*r.DryRun {
			a.note(ctx, set, contents.Digest(), r.UserInfo.Username)
		}
	}
	reviewed("allowed")
	return ctrladmission.Allowed("").WithWarnings(shown...), nil
}

// note records an Event with the author of a text, for the history of a set.
func (a *admission) note(ctx context.Context, set *edictv1.PolicySet, digest, user string) {
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: set.Name + ".", Namespace: set.Namespace, Annotations: history.AuthorOf(digest, user)},
		InvolvedObject: corev1.ObjectReference{APIVersion: edictv1.GroupVersion.String(), Kind: "PolicySet", Namespace: set.Namespace, Name: set.Name, UID: set.UID},
		Type:           corev1.EventTypeNormal, Reason: history.ReasonTextWritten, Message: fmt.Sprintf("%s writes the text %s", user, digest),
		Source: corev1.EventSource{Component: apply.FieldManager}, FirstTimestamp: metav1.Now(), LastTimestamp: metav1.Now(), Count: 1,
	}
	if _, err := a.options.Client.CoreV1().Events(set.Namespace).Create(ctx, e, metav1.CreateOptions{}); err != nil {
		a.options.Log.Warn("the author of a text cannot be recorded", "name", set.Name, "error", err.Error())
	}
}

// reviewSet reviews a PolicySet. It is refused for errors in it that no text can correct.
func (a *admission) reviewSet(ctx context.Context, r ctrladmission.Request) (ctrladmission.Response, error) {
	before, set, err := decoded[edictv1.PolicySet](r)
	if err != nil {
		return ctrladmission.Response{}, err
	}
	if set == nil {
		return ctrladmission.Allowed("").WithWarnings(stops(before)...), nil
	}
	if before != nil && before.Generation == set.Generation {
		return ctrladmission.Allowed(""), nil
	}
	contents, m := source.Read(source.NewSet(set), &source.ConfigMap{}), &corev1.ConfigMap{}
	fatal := slices.DeleteFunc(slices.Clone(contents.Problems), func(p document.Problem) bool { return p.Severity != document.Error })
	if len(fatal) > 0 && (before == nil || worse(source.Read(source.NewSet(before), &source.ConfigMap{}).Problems, fatal)) {
		reviewed("refused")
		return refusal(r, contents, fatal), nil
	}
	err = a.options.Sets.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: set.Spec.Source.ConfigMap.Name}, m)
	if apierrors.IsNotFound(err) {
		reviewed("allowed")
		return ctrladmission.Allowed("").WithWarnings(fmt.Sprintf("the ConfigMap %s does not exist yet: the set waits for it", set.Spec.Source.ConfigMap.Name)), nil
	}
	if err != nil {
		return ctrladmission.Response{}, err
	}
	contents = source.Read(source.NewSet(set), source.NewConfigMap(m))
	problems := a.problems(ctx, contents)
	reviewed("allowed")
	return ctrladmission.Allowed("").WithWarnings(warnings(contents, problems)...), ctx.Err()
}

// stops returns a warning that names the policies that end with a set.
func stops(set *edictv1.PolicySet) []string {
	if set == nil || len(set.Status.Policies) == 0 {
		return nil
	}
	var names []string
	for i := range set.Status.Policies {
		names = append(names, set.Status.Policies[i].Name)
	}
	return []string{fmt.Sprintf("the policies of the set end: %s%s", strings.Join(names, ", "), holding(set))}
}

// holding returns the number of objects with finalizers of a set, as text; empty if it is 0.
func holding(set *edictv1.PolicySet) string {
	n := int64(0)
	for _, f := range set.Status.Finalizers {
		if f.Count != nil {
			n += *f.Count
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d objects have finalizers of its policies", n)
}

// onlyIn makes errors that are not in a text warnings: another object can correct them.
func onlyIn(list []document.Problem, path string) []document.Problem {
	for i := range list {
		if !strings.HasPrefix(list[i].File, path) {
			list[i].Severity = document.Warning
		}
	}
	return list
}

// warnings are shown by kubectl one by one, on a line each.
func warnings(c *source.Contents, list []document.Problem) (out []string) {
	for _, p := range list {
		p.File = strings.TrimPrefix(p.File, c.Path()+"/")
		out = append(out, p.Error())
	}
	return out
}

// problems returns the problems of all policies of a set.
func (a *admission) problems(ctx context.Context, contents *source.Contents) []document.Problem {
	c := source.NewCatalog([]*source.Contents{contents}, a.options.Overrides)
	checker := a.options.Checker.Allowing(contents.Set)
	var found source.Findings
	var room plan.Room
	for _, u := range contents.Units {
		if ctx.Err() == nil {
			found.Add(u, a.found(ctx, checker, c.Units[u.ID()], &room))
		}
	}
	return append(slices.Clip(contents.Problems), found.List()...)
}

// found returns the problems of a policy.
func (a *admission) found(ctx context.Context, checker *check.Checker, u *source.Unit, room *plan.Room) []document.Problem {
	v := checker.Text(ctx, u)
	if v.Plan != nil {
		if err := room.Take(u.Set, v.Plan.Kept); err != nil {
			return append(v.Problems, document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()})
		}
	}
	if v.Plan == nil || !a.options.Config.Authenticates() {
		return v.Problems
	}
	if err := a.options.TryOut(ctx, v.Plan); err != nil && ctx.Err() == nil {
		return append(v.Problems, document.Problem{Position: u.Document.Pos, Severity: document.Warning, Message: "the controller will refuse this edit of " + u.ID() + ": " + err.Error()})
	}
	return v.Problems
}

// worse reports whether there is an error that was missing before, in
// any place: its line may have changed for another reason.
func worse(before, now []document.Problem) bool {
	type wrong struct{ file, message string }
	known := map[wrong]int{}
	for _, p := range before {
		known[wrong{p.File, placeless.ReplaceAllString(p.Message, "")}]++
	}
	return slices.ContainsFunc(now, func(p document.Problem) bool {
		if p.Severity != document.Error {
			return false
		}
		w := wrong{p.File, placeless.ReplaceAllString(p.Message, "")}
		known[w]--
		return known[w] < 0
	})
}

// placeless finds the places in a message, which move with the text.
var placeless = regexp.MustCompile(`:\d+(:\d+)?\b`)
