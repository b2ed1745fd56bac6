package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// paramValues are values for the params of policies.
type paramValues struct{ values, files []string }

func (p *paramValues) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&p.values, "param", nil, "policy.name=value; may repeat")
	flags.StringArrayVar(&p.files, "params", nil, "a YAML file with values by policy and param, also of policies that are not there; may repeat, and --param wins")
}

// overrides returns the values.
func (p *paramValues) overrides() (compile.Overrides, error) {
	out := compile.Overrides{}
	for _, file := range p.files {
		text, err := readParams(file)
		if err != nil {
			return nil, err
		}
		var problems document.Problems
		nodes := document.Parse(file, text, &problems)
		if err := problems.Err(); err != nil {
			return nil, found("%v", err)
		}
		if len(nodes) > 1 {
			return nil, found("%s: a file of --params has one document, this has %d: give another file for the others", nodes[1].Pos, len(nodes))
		}
		values, err := compile.ReadOverrides(file, nodes...)
		if err != nil {
			return nil, found("%v", err)
		}
		out = out.With(values)
	}
	typed, err := parseParams(p.values)
	return out.With(compile.TypedOverrides(typed, source.Typed)), err
}

// maxParams is how large a file of params may be, in bytes: as large as a ConfigMap.
const maxParams = 1 << 20

// readParams reads a file of params.
func readParams(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxParams+1))
	if len(text) > maxParams {
		return nil, found("%s: a file of --params may have %d bytes, this has more", file, maxParams)
	}
	return text, err
}

// parseParams reads policy.name=value.
func parseParams(list []string) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		policy, param, dotted := strings.Cut(name, ".")
		if !ok || !dotted || policy == "" || param == "" {
			return nil, fmt.Errorf("--param must be policy.name=value: %q", text)
		}
		if out[policy] == nil {
			out[policy] = map[string]string{}
		}
		out[policy][param] = value
	}
	return out, nil
}

type paramsFlags struct {
	origin
	output string
}

func paramsCommand() *cobra.Command {
	var f paramsFlags
	cmd := &cobra.Command{
		Use:   "params [PATH...] [POLICY...]",
		Short: "List the params of policies: what may be set, and what is in force",
		Long: `Lists every param of the policies, or of those that are named: its type, the
value in force and who gave it, the default, what values are allowed, and what
it is for. Without -f and a PATH, which is one that exists, the policies and the values
are those of the PolicySets of a namespace, with the texts that are active.`,
		Example: "  edict params policies storage-pool-eligibility",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	f.register(cmd, namespaceOfSets)
	outputFlag(cmd, &f.output, "table", "yaml", "json")
	return cmd
}

// paths takes the arguments that are files or folders, and returns the others.
func (f *paramsFlags) paths(args []string) (names []string) {
	if len(f.policies) > 0 {
		return args
	}
	for _, arg := range args {
		if _, err := os.Stat(arg); err == nil || arg == standardInput {
			f.policies = append(f.policies, arg)
		} else {
			names = append(names, arg)
		}
	}
	return names
}

func (f *paramsFlags) run(ctx context.Context, out, errOut io.Writer, names []string) error {
	names = f.paths(names)
	f.inForce, f.about = true, names
	set, err := f.load(ctx, errOut)
	if err != nil {
		return err
	}
	chosen, broken, err := set.choose(names)
	if err != nil {
		return err
	}
	if err := outputs(printParams)[f.output](out, shownParams(chosen)); err != nil {
		return err
	}
	if len(broken) > 0 {
		return found("what is printed lacks the params of these policies, which do not compile: %s", strings.Join(broken, ", "))
	}
	return nil
}
