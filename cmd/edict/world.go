package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/source"
)

// worldFlags say which policies a command evaluates, and on what: manifests, or the
// objects of a cluster.
type worldFlags struct {
	manifests

	origin origin
}

// register adds the flags; usage is that of --namespace.
func (f *worldFlags) register(cmd *cobra.Command, usage string) {
	f.origin.register(cmd, usage)
	f.manifests.register(cmd.Flags(), "the real time")
	cmd.Flags().Lookup("objects").Usage += " (default: the objects of the cluster)"
}

// input is what a command evaluates, and on what.
type input struct {
	bundle  *source.Bundle
	objects []simulate.Object
	start   time.Time
	// answers are those of builtins that call out.
	answers expr.Answerer
	guard   guard.Guard
	// installed reports whether guard has the allowances of an installation.
	installed bool
	// reader reads the cluster; nil for manifests.
	reader *cluster.Reader
}

// load reads policies and objects.
func (f *worldFlags) load(ctx context.Context, errOut io.Writer) (*input, error) {
	in, err := f.loadPolicies(ctx, errOut)
	if err != nil {
		return nil, err
	}
	return in, f.read(ctx, in, in.bundle.Policies, errOut)
}

// loadPolicies reads the policies, typed by the cluster when its objects are
// evaluated.
func (f *worldFlags) loadPolicies(ctx context.Context, errOut io.Writer) (*input, error) {
	in := &input{}
	var err error
	if err = f.open(); err != nil {
		return nil, err
	}
	in.start = f.instant(time.Now().UTC())
	answers, err := f.answerer()
	if err != nil {
		return nil, err
	}
	in.answers = cmp.Or[expr.Answerer](answers, expr.NoAnswers{})
	if f.objects == "" {
		if in.reader, err = f.connect(errOut); err != nil {
			return nil, err
		}
	}
	in.bundle, err = in.typed(errOut, func(known *schema.Set, errOut io.Writer) (*source.Bundle, error) {
		return f.bundle(ctx, f.origin.policies, known, errOut)
	})
	if err != nil {
		return nil, err
	}
	if in.guard, in.installed, err = f.guard(ctx, in.bundle); err != nil {
		return nil, err
	}
	return in, runnable(errOut, in.bundle)
}

// other loads another set of policies, of files or of the namespace, with the types
// of the first. Values for params are given for the first.
func (f *worldFlags) other(ctx context.Context, in *input, paths []string, errOut io.Writer) (*source.Bundle, error) {
	flags := *f
	flags.origin.paramValues = paramValues{}
	b, err := in.typed(errOut, func(known *schema.Set, errOut io.Writer) (*source.Bundle, error) {
		return flags.bundle(ctx, paths, known, errOut)
	})
	if err != nil {
		return nil, err
	}
	return b, compiles(errOut, b)
}

// typed loads policies by the types of the cluster, when there is one.
func (in *input) typed(errOut io.Writer, load func(*schema.Set, io.Writer) (*source.Bundle, error)) (*source.Bundle, error) {
	if in.reader == nil {
		return load(nil, errOut)
	}
	b, err := load(nil, io.Discard) // what is wrong is said when they are typed
	if err != nil {
		return nil, err
	}
	reads, err := snapshot.New(b.Policies)
	if err != nil {
		return nil, found("%v", err)
	}
	known, err := in.reader.Schemas(reads.Kinds(), schema.Builtin())
	if err != nil {
		return nil, found("%v", err)
	}
	return load(known, errOut)
}

// bundle loads policies from files, or from the ConfigMaps of the namespace when
// there are none.
func (f *worldFlags) bundle(ctx context.Context, paths []string, known *schema.Set, errOut io.Writer) (*source.Bundle, error) {
	if len(paths) > 0 {
		edit, err := f.origin.adopt(ctx)
		if err != nil {
			return nil, err
		}
		return f.origin.policyFiles.load(paths, source.Options{Known: known, Edit: edit})
	}
	f.origin.inForce = true
	catalog, err := f.origin.catalog(ctx, errOut)
	if err != nil {
		return nil, err
	}
	schemas, err := withFolders(known, f.origin.schemas)
	if err != nil {
		return nil, err
	}
	return fromCatalog(catalog, schemas, errOut)
}

// withFolders returns types with those of folders of CRDs; nil are the built-in ones.
func withFolders(known *schema.Set, folders []string) (*schema.Set, error) {
	out := schema.NewSet(cmp.Or(known, schema.Builtin()))
	for _, folder := range folders {
		if err := out.AddFolder(folder); err != nil {
			return nil, found("reading schemas: %v", err)
		}
	}
	return out, nil
}

// fromCatalog compiles what ConfigMaps hold. A policy that does not compile is left
// out, and printed: the controller does not run that text either.
func fromCatalog(catalog *source.Catalog, schemas *schema.Set, errOut io.Writer) (*source.Bundle, error) {
	out, compiler := &source.Bundle{Schemas: schemas}, source.NewCompiler(rego.Local(), nil)
	var problems document.Problems
	for _, contents := range catalog.Contents {
		problems.Append(contents.Problems)
	}
	out.Contents = catalog.Contents
	var wrong source.Findings
	for _, id := range sortedNames(catalog.Units) {
		u := catalog.Units[id]
		p, list, err := compiler.Compile(context.Background(), u, schemas)
		if err != nil {
			return nil, err
		}
		wrong.Add(u, list)
		out.Units = append(out.Units, u)
		if p != nil {
			out.Policies = append(out.Policies, p)
		}
	}
	problems.Append(wrong.List())
	printErrors(errOut, problems.List())
	return out, nil
}

func (f *worldFlags) connect(errOut io.Writer) (*cluster.Reader, error) {
	config, err := f.origin.restConfig()
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
		reader.Progress = func(kind string, n int) {
			fmt.Fprint(direct(errOut), "\r\x1b[K")
			fmt.Fprintf(errOut, "reading %s: %d objects", kind, n)
		}
	}
	return reader, nil
}

// read reads the objects that policies need.
func (f *worldFlags) read(ctx context.Context, in *input, policies []*plan.Policy, errOut io.Writer) (err error) {
	if in.reader == nil {
		in.objects, err = f.manifests.read(in.bundle, f.origin.files...)
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
		fmt.Fprint(direct(errOut), "\r\x1b[K")
	}
	in.objects = reads.TakeListed(objects)
	return nil
}

// isTerminal reports whether a person looks at what is written.
func isTerminal(w io.Writer) bool {
	file, ok := direct(w).(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
