package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Options say how a decision is written down.
type Options struct {
	// Policies are the files of the policy, relative to that of the test.
	Policies []string
	// Schemas are the types by which the policy was compiled.
	Schemas *schema.Set
	// Guard says what the installation allows.
	Guard guard.Guard
}

// ErrNotAlone reports that a decision depends on what a test cannot have.
var ErrNotAlone = errors.New("the decision cannot be made again by a test")

// Test returns a PolicyTest in YAML that makes the decision of a record again, and
// expects what it did. It runs the test: that it comes out otherwise is an error
// that says how.
func Test(ctx context.Context, r *record.Record, o Options) ([]byte, error) {
	p := r.Inputs.Policy
	in, err := inputsOf(ctx, r)
	if err != nil {
		return nil, err
	}
	got, err := again(ctx, r, o, in)
	if wait := waited(r); err != nil && wait > 0 {
		in.waited = wait
		got, err = again(ctx, r, o, in)
	}
	if err != nil {
		return nil, err
	}
	spec := map[string]any{
		"policies": o.Policies, "only": []string{p.Name}, "now": r.At.Add(-in.waited).UTC().Format(time.RFC3339Nano), "objects": in.objects,
		"cases": []any{testCase(r, in, expectation(r, got))},
	}
	for field, v := range map[string]map[string]any{"answers": in.answers, "remembered": in.remembered, "params": params(p)} {
		if len(v) > 0 {
			spec[field] = v
		}
	}
	return document.YAML(map[string]any{
		"apiVersion": v1alpha1.APIVersion, "kind": "PolicyTest", "metadata": map[string]any{"name": p.Name + "-" + r.Inputs.Key.Name}, "spec": spec,
	})
}

func name(r *record.Record) string {
	return fmt.Sprintf("%s %s decided about %s", r.Inputs.Policy.ID(), r.Inputs.Policy.Revision, r.Inputs.Key)
}

// testCase returns the case of a test; a primary that was not there from the
// beginning is applied.
func testCase(r *record.Record, in *inputs, expect map[string]any) map[string]any {
	var steps []map[string]any
	if in.primary != nil {
		steps = append(steps, map[string]any{"apply": in.primary})
	}
	if in.waited > 0 {
		steps = append(steps, map[string]any{"advance": in.waited.String()})
	}
	if len(steps) == 0 {
		return map[string]any{"name": name(r), "expect": expect}
	}
	steps[len(steps)-1]["expect"] = expect
	return map[string]any{"name": name(r), "steps": steps}
}

// waited returns how long what the decision ran was debounced: a test begins so
// much earlier.
func waited(r *record.Record) (out time.Duration) {
	for _, d := range r.Decision.Debounced {
		if d.Ran {
			out = max(out, d.Window)
		}
	}
	return out
}

func exchanges(r *record.Record) []expr.Exchange {
	out := make([]expr.Exchange, len(r.Decision.Calls))
	for i, c := range r.Decision.Calls {
		out[i] = expr.Exchange{Request: c.Request, Response: c.Response, Err: c.Err}
	}
	return out
}

// params returns the values of params that are not the policy's own, as tests give
// them.
func params(p *plan.Policy) map[string]any {
	given := map[string]any{}
	for _, info := range p.ParamInfo {
		if info.From != "" && info.Value != nil {
			given[info.Name] = value.Plain(info.Value)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return map[string]any{p.Name: given}
}

// taken returns the objects that were read, with the fields that the policy reads,
// sorted, each once, and the values of Secrets, of which the objects have digests.
func taken(r *record.Record, list []eval.Read) ([]simulate.Object, *snapshot.Values, error) {
	reads, err := snapshot.New([]*plan.Policy{r.Inputs.Policy})
	if err != nil {
		return nil, nil, err
	}
	var objects []simulate.Object
	for _, one := range list {
		objects = append(objects, plainObject(one))
	}
	objects = together(objects)
	return reads.Take(objects), snapshot.ValuesOf(objects...), nil
}

// plainObject returns an object of the read model as a manifest.
func plainObject(r eval.Read) simulate.Object {
	o, _ := value.Plain(r.Object.Value).(map[string]any)
	metadata, _ := o["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	o["apiVersion"], o["kind"], o["metadata"] = r.Source.APIVersion, r.Source.Kind, metadata
	metadata["name"] = r.Object.Name
	if r.Object.Namespace != "" {
		metadata["namespace"] = r.Object.Namespace
	}
	if generation := r.Object.Version().Generation; generation > 1 {
		metadata["generation"] = generation
	}
	if r.Source.GVK == schema.Secret {
		mark(metadata, !r.Source.Values)
	}
	label(metadata, r.Source.Selector)
	return o
}

// mark notes on a Secret whether it has digests in place of values. The annotation may be
// of the object in the cluster: whoever may annotate a Secret can mark it.
func mark(metadata map[string]any, digests bool) {
	if digests {
		snapshot.Mark(metadata)
	} else if annotations, _ := metadata["annotations"].(map[string]any); annotations != nil {
		delete(annotations, v1alpha1.AnnotationDigests)
	}
}

// label adds the labels by which a selector found an object: the read model keeps
// only those that expressions read.
func label(metadata map[string]any, text string) {
	s, err := labels.Parse(text)
	if err != nil {
		return // it has found the object
	}
	requirements, _ := s.Requirements()
	for _, r := range requirements {
		have, _ := metadata["labels"].(map[string]any)
		if _, known := have[r.Key()]; known || r.Operator() == selection.DoesNotExist || r.Operator() == selection.NotIn || r.Operator() == selection.NotEquals {
			continue
		}
		one := ""
		if values := r.Values().List(); len(values) > 0 {
			one = values[0]
		}
		if have == nil {
			have = map[string]any{}
			metadata["labels"] = have
		}
		have[r.Key()] = one
	}
}

// split takes the primary out of the objects when it was not there from the
// beginning: a test applies it then.
func split(r *record.Record, objects []simulate.Object) (rest []simulate.Object, primary simulate.Object) {
	rest = []simulate.Object{}
	p := r.Inputs.Policy
	id, _ := world.Identify(p.Primary.GVK, r.Inputs.Key.Namespace, r.Inputs.Key.Name)
	for _, o := range objects {
		if !r.Inputs.Initial && simulate.ID(o) == id {
			primary = o
			continue
		}
		rest = append(rest, o)
	}
	return rest, primary
}

// again makes the decision again, until nothing is left to do, and reports how it
// differs.
func again(ctx context.Context, r *record.Record, o Options, in *inputs) (simulate.Result, error) {
	sim, err := in.begin(ctx, r.Inputs.Policy, r.At, o)
	if err != nil {
		return simulate.Result{}, err
	}
	sim.Settle(ctx)
	if in.waited > 0 {
		sim.Advance(ctx, r.At)
	}
	got := sim.Result()
	return got, agree(r, got, in.values)
}
