package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/source"
)

// worldFlags say which policies a command evaluates, and on what: manifests, or the
// objects of a cluster.
type worldFlags struct {
	origin                origin
	objects, answers, now string
}

// register adds the flags.
func (f *worldFlags) register(cmd *cobra.Command) {
	f.origin.register(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.origin.policies, "policies", nil, "a file or folder of policies; may repeat (default: those of --policy-namespace)")
	flags.StringVar(&f.objects, "objects", "", "a file or folder of manifests (default: the objects of the cluster)")
	flags.StringVar(&f.answers, "answers", "", "a file with the answers of builtins that call out (default: answers.json or answers.yaml in the folder of --objects)")
	flags.StringVar(&f.now, "now", "", "the time of the evaluation, RFC 3339 (default: the real time)")
}

// input is what a command evaluates, and on what.
type input struct {
	bundle  *source.Bundle
	objects []simulate.Object
	start   time.Time
	// answers are those of builtins that call out; nil is that none are known.
	answers expr.Answerer
	guard   guard.Guard
	// reader reads the cluster; nil for manifests.
	reader *cluster.Reader
	// live says that the objects are those of a cluster.
	live bool
}

// load reads policies and objects.
func (f *worldFlags) load(ctx context.Context, errOut io.Writer) (*input, error) {
	in, err := f.loadPolicies(ctx, errOut)
	if err != nil {
		return nil, err
	}
	return in, f.read(ctx, in, in.bundle.Policies)
}

// loadPolicies reads the policies, typed by the cluster when its objects are
// evaluated.
func (f *worldFlags) loadPolicies(ctx context.Context, errOut io.Writer) (*input, error) {
	in := &input{live: f.objects == ""}
	var err error
	if in.start, err = f.startTime(); err != nil {
		return nil, err
	}
	if f.objects != "" {
		f.answers = cmp.Or(f.answers, simulate.AnswersIn(f.objects))
	}
	if in.answers, err = readAnswers(f.answers); err != nil {
		return nil, err
	}
	if in.live {
		if in.reader, err = f.connect(errOut); err != nil {
			return nil, err
		}
	}
	in.bundle, err = in.typed(func(known *schema.Set) (*source.Bundle, error) { return f.bundle(ctx, f.origin.policies, known) })
	if err != nil {
		return nil, err
	}
	in.guard = guard.New(in.bundle.Allowances).Assuming()
	return in, runnable(errOut, in.bundle)
}

// typed loads policies by the types of the cluster, when there is one.
func (in *input) typed(load func(known *schema.Set) (*source.Bundle, error)) (*source.Bundle, error) {
	b, err := load(nil)
	if err != nil || in.reader == nil {
		return b, err
	}
	reads, err := snapshot.New(b.Policies)
	if err != nil {
		return nil, found("%v", err)
	}
	known, err := in.reader.Schemas(reads.Kinds(), schema.Builtin())
	if err != nil {
		return nil, found("%v", err)
	}
	return load(known)
}

// bundle loads policies from files, or from the ConfigMaps of the namespace when
// there are none.
func (f *worldFlags) bundle(ctx context.Context, paths []string, known *schema.Set) (*source.Bundle, error) {
	params, err := parseParams(f.origin.params)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		b, err := source.Load(paths, source.Options{Schemas: f.origin.schemas, Params: params, Known: known})
		if err != nil {
			return nil, found("%v", err)
		}
		return b, nil
	}
	api, _, err := f.origin.configMaps()
	if err != nil {
		return nil, found("%v", err)
	}
	catalog, err := configmap.Read(ctx, api, compile.TypedOverrides(params, source.Typed))
	if err != nil {
		return nil, found("%v", err)
	}
	return fromCatalog(catalog, f.origin.schemas, known)
}

// fromCatalog compiles what ConfigMaps hold. A policy that does not compile is left
// out: the controller does not run it either.
func fromCatalog(catalog *source.Catalog, folders []string, known *schema.Set) (*source.Bundle, error) {
	if known == nil {
		known = schema.Builtin()
	}
	out := &source.Bundle{Schemas: schema.NewSet(known)}
	for _, folder := range folders {
		if err := out.Schemas.AddFolder(folder); err != nil {
			return nil, found("reading schemas: %v", err)
		}
	}
	for _, id := range sortedNames(catalog.Units) {
		u := catalog.Units[id]
		p, _, err := u.Compile(out.Schemas, rego.Local())
		if err != nil {
			return nil, err
		}
		out.Units = append(out.Units, u)
		if p != nil {
			out.Policies = append(out.Policies, p)
		}
	}
	return out, nil
}

func (f *worldFlags) connect(errOut io.Writer) (*cluster.Reader, error) {
	config, err := clusterConfig(f.origin.kubeconfig)
	if err != nil {
		if len(f.origin.policies) > 0 {
			err = fmt.Errorf("%w; or evaluate manifests with --objects", err)
		}
		return nil, err
	}
	reader, err := cluster.Connect(config)
	if err != nil {
		return nil, found("%v", err)
	}
	if isTerminal(errOut) {
		reader.Progress = func(kind string, n int) { fmt.Fprintf(errOut, "\r\x1b[Kreading %s: %d objects", kind, n) }
	}
	return reader, nil
}

// read reads the objects that policies need.
func (f *worldFlags) read(ctx context.Context, in *input, policies []*plan.Policy) (err error) {
	if !in.live {
		in.objects, err = simulate.ReadObjects(f.objects, f.answers)
		return err
	}
	reads, err := snapshot.New(policies)
	if err != nil {
		return found("%v", err)
	}
	objects, err := in.reader.List(ctx, reads.Sources())
	if err != nil {
		return found("%v", err)
	}
	if in.reader.Progress != nil {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	in.objects = reads.Take(objects)
	return nil
}

func (f *worldFlags) startTime() (time.Time, error) {
	if f.now == "" {
		return time.Now().UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, f.now)
	if err != nil {
		return at, fmt.Errorf("--now must be RFC 3339, such as 2026-01-02T15:04:05Z: %q", f.now)
	}
	return at, nil
}

// readAnswers reads what builtins answer; nil without a file.
func readAnswers(file string) (expr.Answerer, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	answers, err := simulate.ParseAnswers(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return answers, nil
}

// isTerminal reports whether a person looks at what is written.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// wantOutput refuses an output that a command does not have.
func wantOutput(output string, known ...string) error {
	if slices.Contains(known, output) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("unknown output %q: %s or %s", output, strings.Join(known[:last], ", "), known[last])
}
