package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
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
	// Params are the values that were given for the policy's params.
	Params map[string]any
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
	if r.Inputs.Instead != nil || r.Inputs.Flush {
		return nil, fmt.Errorf("%w: it runs what was debounced before", ErrNotAlone)
	}
	answers, err := builtins.Recorded(exchanges(r))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAlone, err)
	}
	objects, err := read(ctx, r)
	if err != nil {
		return nil, err
	}
	objects, primary := split(r, objects)
	memory := remembered(r)
	begins := begin{objects: objects, primary: primary, answers: answers, memory: memory}
	got, err := again(ctx, r, o, begins)
	if begins.wait = waited(r); err != nil && begins.wait > 0 {
		got, err = again(ctx, r, o, begins)
	} else {
		begins.wait = 0
	}
	if err != nil {
		return nil, err
	}
	spec := map[string]any{
		"policies": o.Policies, "only": []string{p.Name}, "now": r.At.Add(-begins.wait).UTC().Format(time.RFC3339Nano), "objects": objects,
		"cases": []any{testCase(r, primary, begins.wait, expectation(r, got))},
	}
	for field, v := range map[string]map[string]any{"answers": answers, "remembered": memory, "params": params(p, o)} {
		if len(v) > 0 {
			spec[field] = v
		}
	}
	return yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.APIVersion, "kind": "PolicyTest", "metadata": map[string]any{"name": p.Name + "-" + r.Inputs.Key.Name}, "spec": spec,
	})
}

func name(r *record.Record) string {
	return fmt.Sprintf("%s %s decided about %s", r.Inputs.Policy.Name, r.Inputs.Policy.Revision, r.Inputs.Key)
}

// testCase returns the case of a test; a primary that was not there from the
// beginning is applied.
func testCase(r *record.Record, primary simulate.Object, wait time.Duration, expect map[string]any) map[string]any {
	var steps []map[string]any
	if primary != nil {
		steps = append(steps, map[string]any{"apply": primary})
	}
	if wait > 0 {
		steps = append(steps, map[string]any{"advance": wait.String()})
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

func params(p *plan.Policy, o Options) map[string]any {
	if len(o.Params) == 0 {
		return nil
	}
	return map[string]any{p.Name: o.Params}
}

// read returns the objects that were read, with the fields that the policy reads,
// sorted, each once. Of Secrets they have digests.
func read(ctx context.Context, r *record.Record) ([]simulate.Object, error) {
	reads, err := snapshot.New([]*plan.Policy{r.Inputs.Policy})
	if err != nil {
		return nil, err
	}
	var objects []simulate.Object
	for _, one := range r.Reads(ctx) {
		objects = append(objects, plainObject(one))
	}
	return reads.Take(objects), nil
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
	if r.Source.GVK == reconcile.Secret && !r.Source.Values {
		snapshot.Mark(metadata)
	}
	label(metadata, r.Source.Selector)
	return o
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
	id := world.ID{GVK: p.Primary.GVK, Namespace: r.Inputs.Key.Namespace, Name: r.Inputs.Key.Name}
	for _, o := range objects {
		if !r.Inputs.Initial && simulate.ID(o) == id {
			primary = o
			continue
		}
		rest = append(rest, o)
	}
	return rest, primary
}

// begin is what a test begins with.
type begin struct {
	objects         []simulate.Object
	primary         simulate.Object
	answers, memory map[string]any
	wait            time.Duration
}

// again makes the decision again, and reports how it differs.
func again(ctx context.Context, r *record.Record, o Options, b begin) (simulate.Result, error) {
	got, err := run(ctx, r, o, b)
	if err != nil {
		return got, err
	}
	return got, agree(r, got)
}

// run makes the decision again, until nothing is left to do.
func run(ctx context.Context, r *record.Record, o Options, b begin) (simulate.Result, error) {
	scripted, err := builtins.Scripted(b.answers)
	if err != nil {
		return simulate.Result{}, err
	}
	kept, err := simulate.ParseMemory(b.memory)
	if err != nil {
		return simulate.Result{}, err
	}
	policy := *r.Inputs.Policy
	policy.Mode = plan.Enforce
	sim := simulate.New(ctx, simulate.Options{
		Policies: []*plan.Policy{&policy}, Schemas: o.Schemas, Objects: b.objects, Guard: o.Guard, Start: r.At.Add(-b.wait), Answers: scripted, Remembered: kept,
	})
	sim.Settle(ctx)
	if b.primary != nil {
		sim.Apply(b.primary)
		sim.Settle(ctx)
	}
	if b.wait > 0 {
		sim.Advance(ctx, r.At)
	}
	return sim.Result(), ctx.Err()
}
