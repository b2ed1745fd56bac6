package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// admission checks ConfigMaps before they are stored, in the same way as before they
// take effect; only tests are not run. It fails open: what it cannot validate is
// admitted with a warning, and a bad text is refused later.
type admission struct {
	options Options
	// slots are for the reviews at one time. A review that took too long keeps its
	// slot until it is done.
	slots chan struct{}
	// wait waits until ConfigMaps that were just stored are in the store.
	wait func(context.Context)
}

// reviewsUnderWay is how many ConfigMaps are checked at once.
const reviewsUnderWay = 2

func newAdmission(o Options) *admission {
	return &admission{options: o, slots: make(chan struct{}, reviewsUnderWay), wait: waitForCache}
}

const (
	// defaultTimeout is how long the API server waits if it does not say, and maxTimeout
	// the longest that it may.
	defaultTimeout, maxTimeout = 5 * time.Second, 30 * time.Second
	// answering is the part of that, one in five, that is kept for the answer.
	answering = 5
)

// reviewContext ends before the API server stops waiting, which says when in its
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

// pass admits a ConfigMap that could not be checked.
func pass(reason string) ctrladmission.Response {
	reviewed("passed")
	return ctrladmission.Allowed("").WithWarnings("edict has not checked this ConfigMap: " + reason)
}

func (a *admission) review(ctx context.Context, r ctrladmission.Request) ctrladmission.Response {
	now, err := decoded(r.Object.Raw)
	if err != nil {
		return pass(err.Error())
	}
	var before *corev1.ConfigMap
	if r.Operation == admissionv1.Update || r.Operation == admissionv1.Delete {
		if before, err = decoded(r.OldObject.Raw); err != nil {
			return pass(err.Error())
		}
	}
	reads := now != nil && configmap.Labelled(now)
	if !reads && (before == nil || !configmap.Labelled(before)) || r.Namespace != a.options.Namespace {
		return ctrladmission.Allowed("")
	}
	if reads && same(before, now) { // only annotations, such as those of the controller
		return ctrladmission.Allowed("")
	}
	if !a.options.Store.Ready() {
		return pass("the other ConfigMaps are not read yet")
	}
	if !reads {
		return ctrladmission.Allowed("").WithWarnings(a.stopWarnings(before, now)...)
	}
	response := a.decide(ctx, r, before, now)
	if response.Allowed {
		response = response.WithWarnings(a.stopWarnings(before, now)...)
	}
	return response
}

// catchUp is how long a ConfigMap that was just stored may take to be in the store: of
// ConfigMaps that are applied together, each is checked with those before it.
const catchUp = 200 * time.Millisecond

func waitForCache(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(catchUp):
	}
}

// decide rejects a ConfigMap with errors that were not in it before: who corrects one
// of two errors is not stopped by the other.
func (a *admission) decide(ctx context.Context, r ctrladmission.Request, before, now *corev1.ConfigMap) ctrladmission.Response {
	problems, err := a.problems(ctx, now)
	if document.HasErrors(problems) {
		a.wait(ctx)
		problems, err = a.problems(ctx, now)
	}
	if err != nil {
		return pass(err.Error())
	}
	if document.HasErrors(problems) && before != nil && configmap.Labelled(before) {
		old, err := a.problems(ctx, before)
		if err != nil {
			return pass(err.Error())
		}
		if !worse(old, problems) {
			reviewed("allowed")
			return ctrladmission.Allowed("").WithWarnings(warnings(now, problems)...)
		}
	}
	if document.HasErrors(problems) {
		reviewed("refused")
		return refusal(r, now, problems)
	}
	reviewed("allowed")
	return ctrladmission.Allowed("").WithWarnings(warnings(now, problems)...)
}

// warnings are shown by kubectl one by one, on a line each.
func warnings(m *corev1.ConfigMap, list []document.Problem) (out []string) {
	for _, p := range list {
		p.File = strings.TrimPrefix(p.File, m.Namespace+"/"+m.Name+"/")
		out = append(out, p.Error())
	}
	return out
}

func decoded(raw []byte) (*corev1.ConfigMap, error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // there is no object, which is no error
	}
	m := &corev1.ConfigMap{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	return m, nil
}

// same reports whether nothing that is checked has changed.
func same(a, b *corev1.ConfigMap) bool {
	return a != nil && maps.Equal(a.Data, b.Data) && slices.Equal(configmap.Of(a).Binary, configmap.Of(b).Binary) &&
		a.Annotations[v1alpha1.AnnotationMode] == b.Annotations[v1alpha1.AnnotationMode] &&
		a.Annotations[v1alpha1.AnnotationRollout] == b.Annotations[v1alpha1.AnnotationRollout] &&
		a.Labels[v1alpha1.LabelPolicy] == b.Labels[v1alpha1.LabelPolicy] && a.Labels[v1alpha1.LabelParams] == b.Labels[v1alpha1.LabelParams]
}

// worse reports whether there is an error that was not there before, wherever it
// stood: its line may have changed for another reason.
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

// problems checks a ConfigMap together with the others.
func (a *admission) problems(ctx context.Context, m *corev1.ConfigMap) ([]document.Problem, error) {
	c, err := a.options.Store.With(m, a.options.Overrides)
	if err != nil {
		return nil, err
	}
	mine := configmap.Of(m)
	ids, out := touched(c, mine)
	var found source.Findings
	var room plan.Room
	for _, id := range ids {
		if ctx.Err() == nil {
			found.Add(c.Units[id], a.found(ctx, c, mine, id, &room))
		}
	}
	return append(out, found.List()...), ctx.Err()
}

// touched returns the IDs of the policies that a ConfigMap has, or has values for, sorted,
// and what is wrong with the ConfigMap itself.
func touched(c *source.Catalog, mine *source.ConfigMap) (ids []string, out []document.Problem) {
	out = slices.Clone(c.Conflicts[mine.Path()])
	for id, contents := range c.Origins {
		if contents.Path() == mine.Path() {
			ids = append(ids, id)
		}
	}
	for _, contents := range c.Contents {
		if contents.Path() == mine.Path() {
			out = append(out, contents.Problems...)
		}
	}
	for _, v := range c.Values {
		if v.Path() == mine.Path() {
			out = append(out, v.Problems...)
			for policy := range v.Overrides {
				ids = append(ids, slices.DeleteFunc(c.Named(policy), func(id string) bool { return plan.ParseID(id).Shadow })...)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), out
}

// found returns what is wrong with a policy because of a ConfigMap.
func (a *admission) found(ctx context.Context, c *source.Catalog, mine *source.ConfigMap, id string, room *plan.Room) []document.Problem {
	u := c.Units[id]
	v := a.options.Checker.Text(ctx, u)
	list := concerning(mine, v.Problems, c, id)
	if v.Plan != nil && c.Origins[id].Path() == mine.Path() {
		if err := room.Take(mine.Path(), v.Plan.Kept); err != nil {
			return append(list, document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()})
		}
	}
	if v.Plan == nil || !a.options.Config.Authenticates() {
		return list
	}
	if err := a.options.TryOut(ctx, v.Plan); err != nil && ctx.Err() == nil {
		list = append(list, document.Problem{Position: u.Document.Pos, Severity: document.Warning, Message: "the controller will refuse this edit of " + id + ": " + err.Error()})
	}
	return list
}

// concerning returns the problems of a policy that a ConfigMap causes: if the policy
// is in another one, those with the values in this one. A text that no longer fits
// the values in another is only a warning: who changes both has to start with one.
func concerning(m *source.ConfigMap, list []document.Problem, c *source.Catalog, id string) (out []document.Problem) {
	in := func(p document.Problem, path string) bool { return strings.HasPrefix(p.File, path+"/") }
	own := c.Origins[id].Path() == m.Path()
	for _, p := range list {
		elsewhere := slices.ContainsFunc(c.Values, func(v *source.Values) bool { return v.Path() != m.Path() && in(p, v.Path()) })
		if own && elsewhere {
			p.Severity = document.Warning
		}
		if own || in(p, m.Path()) {
			out = append(out, p)
		}
	}
	return out
}
