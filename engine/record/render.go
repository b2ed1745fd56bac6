package record

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Render returns the record for people, with all details. Values are hidden when
// the policy reads the values of Secrets.
func (r *Record) Render(ctx context.Context) *Document { return r.RenderAbout(ctx, "") }

// RenderAbout is Render with what the decision made of something that has a name:
// an object that may belong to an input, or an item of a list.
func (r *Record) RenderAbout(ctx context.Context, name string) *Document {
	return r.Again(ctx, name).Render()
}

// Wakes returns the causes of the evaluation.
func (r *Record) Wakes() []WakeDocument { return renderer{}.wakes(r.Inputs.Policy, r.WokenBy) }

// Render returns the record for people; see Record.Render.
func (a *Again) Render() *Document {
	r, p, d := a.record, a.record.Inputs.Policy, a.details
	w := renderer{hidden: SeesValues(p)}
	out := &Document{
		ID: r.ID(), At: r.At.UTC(), Policy: p.ID(), Revision: p.Revision, Key: r.Inputs.Key,
		WokenBy: w.wakes(p, r.WokenBy), Reads: w.reads(a.Reads()), Variables: w.variables(d.Variables),
		Rules: w.rules(p, d), Selections: w.selections(d), Calls: w.calls(r.Decision.Calls), Effects: w.effects(r),
		Lists: w.lists(d.Lists), Deadlines: w.deadlines(d.Deadlines), Remembered: w.memory(r.Memory), Error: w.failure(errors.Join(r.Errors[:]...)),
	}
	if !r.Next.IsZero() {
		next := r.Next.UTC()
		out.Next = &next
	}
	return out
}

// SeesValues reports whether the policy reads the values of Secrets: nothing that
// it read or computed may be shown.
func (r *Record) SeesValues() bool { return SeesValues(r.Inputs.Policy) }

// SeesValues reports whether a policy reads the values of Secrets: anything that
// it computes may hold one.
func SeesValues(p *plan.Policy) bool {
	if p.Primary.Source.Values {
		return true
	}
	for _, in := range p.Inputs {
		if in.Source.Values {
			return true
		}
	}
	return slices.ContainsFunc(p.Targets, func(t *plan.Target) bool { return t.Source.Values })
}

type renderer struct{ hidden bool }

// HiddenValue stands for a value that is not shown.
const HiddenValue = "(hidden: the policy reads values of Secrets)"

func (w renderer) value(v value.Value) any {
	if v == nil {
		return nil
	}
	return w.plain(value.Plain(v))
}

// plain hides texts and numbers; names of fields and truths are no secret. A number that
// JSON does not have is shown as a text.
func (w renderer) plain(x any) any {
	switch x := x.(type) {
	case nil, bool:
		return x
	case map[string]any:
		for name, field := range x {
			x[name] = w.plain(field)
		}
		return x
	case []any:
		for i := range x {
			x[i] = w.plain(x[i])
		}
		return x
	case float64:
		if !w.hidden && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	if w.hidden {
		return HiddenValue
	}
	return x
}

func (w renderer) failure(err error) string {
	if err != nil && w.hidden {
		return HiddenValue
	}
	return text(err)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// ObjectOf names an object.
func ObjectOf(id world.ID) ObjectDocument {
	return ObjectDocument{APIVersion: id.APIVersion(), Kind: id.Kind(), Namespace: id.Namespace(), Name: id.Name()}
}

func (w renderer) reads(list []eval.Read) []ReadDocument {
	out := make([]ReadDocument, 0, len(list))
	for _, r := range list {
		doc := ReadDocument{ObjectDocument: ObjectOf(r.Object.ID()), ResourceVersion: r.Object.Version().ResourceVersion, Fields: Paths(r.Mask)}
		doc.Digests = r.Source.GVK == schema.Secret && !r.Source.Values && slices.ContainsFunc(doc.Fields, func(f string) bool { return f == Whole || strings.HasPrefix(f, "data") })
		doc.Deleting = value.Path(r.Object.Value, "metadata", "deletionTimestamp") != nil
		if finalizers, ok := value.Path(r.Object.Value, "metadata", "finalizers").(*value.List); ok && doc.Deleting {
			doc.Finalizers = value.Strings(finalizers)
		}
		out = append(out, doc)
	}
	slices.SortFunc(out, func(a, b ReadDocument) int { return compareObjects(a.ObjectDocument, b.ObjectDocument) })
	return slices.CompactFunc(out, func(a, b ReadDocument) bool {
		return a.ObjectDocument == b.ObjectDocument && slices.Equal(a.Fields, b.Fields)
	})
}

func compareObjects(a, b ObjectDocument) int {
	return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func (w renderer) variables(list []eval.VariableDetails) []VariableDocument {
	out := make([]VariableDocument, 0, len(list))
	for _, v := range list {
		out = append(out, VariableDocument{Name: v.Name, Value: w.value(v.Value), Error: w.failure(v.Err)})
	}
	return out
}

func (w renderer) memory(memory map[string]value.Value) map[string]any {
	if len(memory) == 0 {
		return nil
	}
	out := make(map[string]any, len(memory))
	for name, v := range memory {
		out[name] = w.value(v)
	}
	return out
}

func (w renderer) deadlines(list []eval.Deadline) []DeadlineDocument {
	out := make([]DeadlineDocument, 0, len(list))
	for _, d := range list {
		out = append(out, DeadlineDocument{At: d.At.UTC(), Why: d.Why})
	}
	slices.SortStableFunc(out, func(a, b DeadlineDocument) int { return a.At.Compare(b.At) })
	return out
}

func (w renderer) calls(list []eval.Call) []CallDocument {
	out := make([]CallDocument, 0, len(list))
	for _, c := range list {
		request, response := CallOf(c)
		out = append(out, CallDocument{Rule: c.Rule, Builtin: c.Request.Query, Request: w.plain(request), Response: w.plain(response), Error: w.failure(c.Err), AnsweredBefore: c.AnsweredBefore})
	}
	return out
}

// Calls returns the calls of the decision; none when the policy reads values of
// Secrets, because its requests may have them.
func (r *Record) Calls() []CallDocument {
	if r.SeesValues() {
		return nil
	}
	return renderer{}.calls(r.Decision.Calls)
}

// CallOf returns a call as JSON shows it: the fields of the request with its
// candidates, and of the response the scores in their order; null is a candidate
// that was dropped.
func CallOf(c eval.Call) (request, response map[string]any) {
	request, _ = value.Plain(c.Request.With).(map[string]any)
	candidates := make([]any, c.Request.Candidates.Len())
	for n, candidate := range c.Request.Candidates.All() {
		candidates[n] = value.Plain(candidate)
	}
	request["candidates"] = candidates
	if c.Err != nil || c.Response == nil {
		return request, nil
	}
	scores := make([]any, len(c.Response.Verdicts))
	for n, v := range c.Response.Verdicts {
		if v.Keep() {
			scores[n] = v.Score()
		}
	}
	return request, map[string]any{"scores": scores}
}

// writes returns the writes of an object that were made.
func (r *Record) writes(object ObjectDocument) (out []WriteDocument) {
	for _, o := range r.Outcomes {
		e := o.Effect
		if !o.Written() || !ObjectOf(e.Target).Same(object) {
			continue
		}
		doc := WriteDocument{
			At: r.At.UTC(), Reconcile: r.ID(), Policy: r.Inputs.Policy.ID(), Rule: strings.Join(e.Rules, ", "), Key: r.Inputs.Key.String(), Verb: e.Verb,
			Target: ObjectOf(e.Target), WokenBy: r.Wakes(),
		}
		if e.Verb == eval.VerbPatch && e.Before != nil {
			for _, d := range e.Changes() {
				doc.Fields = append(doc.Fields, d.Path)
			}
		}
		out = append(out, doc)
	}
	return out
}

func (w renderer) effects(r *Record) []EffectDocument {
	out := make([]EffectDocument, 0, len(r.Decision.Effects))
	for _, e := range r.Decision.Effects {
		doc := EffectDocument{Rule: strings.Join(e.Rules, ", "), Verb: e.Verb, Subresource: e.Subresource, Target: ObjectOf(e.Target)}
		if e.Before != nil {
			doc.Before = w.value(e.Before)
		}
		if e.Patch != nil {
			doc.Patch = w.value(e.Patch)
		}
		at := slices.IndexFunc(r.Outcomes, func(o apply.Outcome) bool { return o.Effect == e })
		if at >= 0 {
			doc.Result, doc.Error = r.Outcomes[at].Result(), w.failure(cmp.Or(r.Outcomes[at].Err, r.Outcomes[at].Refused))
		}
		out = append(out, doc)
	}
	return out
}
