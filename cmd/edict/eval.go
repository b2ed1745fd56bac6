package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/probe"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// evalFlags are those of edict eval.
type evalFlags struct {
	world               worldFlags
	policy, key, output string
}

func evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Evaluate an expression, by itself or as part of a policy",
		Long: `Evaluates a CEL expression and prints its value. With -f or -n it is
evaluated as a variable of a policy for one object: it may use object, key,
params, inputs, children and variables. Without, it may use the builtins and now.

--policy may be left out when there is one policy, --key when the policy decides
about one object. An error in the expression is printed as edict check does, and
ends with exit code 1, as does one in its evaluation.`,
		Example: "  edict eval 'duration(\"90m\") > duration(\"1h\")'\n" +
			"  edict eval size(inputs.nodes) -f policies --objects examples/storage --policy storage-pool-eligibility --key fast\n" +
			"  edict eval object.metadata.name -f policies/agent-node-label.yaml --objects examples/storage --key node-a1",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.world.register(cmd, namespaceOfSets)
	flags := cmd.Flags()
	flags.StringVar(&f.policy, "policy", "", "the policy that the expression is a part of")
	flags.StringVar(&f.key, "key", "", "[NAMESPACE/]NAME of the object that is decided about")
	outputFlag(cmd, &f.output, "yaml", "json")
	return cmd
}

func (f *evalFlags) run(ctx context.Context, text string, out, errOut io.Writer) error {
	result, problems, err := f.evaluate(ctx, text, errOut)
	if err != nil {
		return err
	}
	if result == nil {
		printErrors(errOut, problems)
		return findings{}
	}
	return writeValue(out, f.output, value.Plain(result))
}

func (f *evalFlags) evaluate(ctx context.Context, text string, errOut io.Writer) (value.Value, []document.Problem, error) {
	if len(f.world.origin.policies) == 0 && f.world.origin.Context.Namespace == "" {
		if f.policy != "" || f.key != "" || f.world.objects != "" {
			return nil, nil, errors.New("--policy, --key and --objects need -f PATH or -n NAMESPACE")
		}
		result, problems, err := probe.Alone(ctx, text, f.world.instant(time.Now().UTC()))
		return result, problems, asFinding(err)
	}
	if f.policy != "" {
		f.world.origin.about = []string{f.policy}
	}
	in, err := f.world.loadPolicies(ctx, errOut)
	if err != nil {
		return nil, nil, err
	}
	unit, err := f.unit(in)
	if err != nil {
		return nil, nil, err
	}
	p, problems, err := probe.Compile(unit, text, in.bundle.Schemas)
	if p == nil || err != nil {
		return nil, problems, err
	}
	noteDigests(errOut, in, p, text)
	// The expression may read more than the policy does.
	if err := f.world.read(ctx, in, []*plan.Policy{p}, errOut); err != nil {
		return nil, nil, err
	}
	result, err := f.value(ctx, probe.New(ctx, p, probe.World{Schemas: in.bundle.Schemas, Objects: in.objects, Now: in.start, Answers: in.answers}))
	return result, nil, err
}

// noteDigests prints the inputs of an expression that have digests instead of values.
func noteDigests(errOut io.Writer, in *input, p *plan.Policy, text string) {
	g := simulate.GuardOf(in.bundle)
	values := g.Of(p).Values()
	for _, one := range p.Inputs {
		if one.Source.GVK == schema.Secret && strings.Contains(text, "inputs."+one.Name) && !values {
			fmt.Fprintf(errOut, "the values of the Secret %s are shown as digests, as the policy lacks the allowance values\n", one.Name)
		}
	}
}

// unit returns the policy that is asked for.
func (f *evalFlags) unit(in *input) (*source.Unit, error) {
	policies := in.bundle.Policies
	if f.policy == "" && len(policies) > 1 {
		return nil, fmt.Errorf("there are %d policies; name one with --policy, such as %s", len(policies), policies[0].Name)
	}
	if f.policy == "" {
		return in.unitOf(policies[0]), nil
	}
	chosen, err := chooseOne(policies, f.policy)
	if err != nil {
		return nil, err
	}
	return in.unitOf(chosen), nil
}

func (f *evalFlags) value(ctx context.Context, p *probe.Probe) (value.Value, error) {
	key := eval.ParseKey(f.key)
	if f.key == "" {
		var err error
		if key, err = p.OnlyKey(); err != nil {
			return nil, found("%v with --key", err)
		}
	}
	result, err := p.Value(ctx, key)
	switch {
	case err == nil:
		return result, nil
	case slices.Contains(p.Keys(), key):
		return nil, found("%v", err)
	default:
		return nil, found("%v%s", err, hinted(keyHint(key, p.Keys())))
	}
}

// writeValue writes a value as a document. That it has a number that no document can
// have is a finding.
func writeValue(w io.Writer, output string, v any) error {
	write := writeYAML
	if output == "json" {
		write = writeJSON
	}
	err := write(w, v)
	if number := (*json.UnsupportedValueError)(nil); errors.As(err, &number) {
		return found("the value has the number %s, which no object can have: string(...) shows it", number.Str)
	}
	return err
}
