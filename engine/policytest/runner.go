package policytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/coverage"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// Options say which cases to run, and how.
type Options struct {
	// Run selects cases by their full name, FILE/CASE; nil selects all.
	Run *regexp.Regexp
	// Records takes what is decided; nil keeps nothing.
	Records *record.Log
	// Coverage takes what the cases use of the policies; nil is not asked for.
	Coverage *coverage.Collector
	// Policies are the paths of those that are tested, instead of those that tests name.
	Policies []string
	// Edit changes policies before they are compiled; nil does not.
	Edit func(*source.Unit)
	// UntilFailure ends with the first case that fails.
	UntilFailure bool
	// Begin is called with what each case begins with; nil is not.
	Begin func(simulate.Options)
	// Schemas are folders of CRDs, besides those beside the policies.
	Schemas []string
	// Params override those of the policies, unless a test gives others.
	Params compile.Overrides
	// Limits are the limits of the installation; if nil, the defaults.
	Limits *brake.Settings
}

// Report is what came of all tests.
type Report struct {
	Cases []Case
	// Coverage counts how often each rule of each policy fired.
	Coverage map[string]map[string]int
	// Warnings say of which kinds of the policies no schema is known.
	Warnings []document.Problem
	// Next is the number of the first case that was not run, for Embedded.Skip, because the
	// time was over; 0 if there is none.
	Next int
}

// Case is what came of one case.
type Case struct {
	File     string `json:"file"`
	Name     string `json:"name"`
	Position string `json:"position"`
	// At is the same, in parts.
	At       document.Position `json:"-"`
	Failures []string          `json:"failures,omitempty"`
	// Paused are the policies that the limits of writes would have paused.
	Paused []simulate.Paused `json:"paused,omitempty"`
	Time   time.Duration     `json:"-"`

	// embedded says that the file is a key of a ConfigMap.
	embedded bool
	outcomes []outcome
}

// Failed counts the cases that failed.
func (r *Report) Failed() int {
	n := 0
	for _, c := range r.Cases {
		if len(c.Failures) > 0 {
			n++
		}
	}
	return n
}

// Run runs the policy tests at some paths.
func Run(ctx context.Context, paths []string, o Options) (*Report, error) {
	r := runner{options: o, report: &Report{Coverage: map[string]map[string]int{}}, bundles: map[string]*source.Bundle{}, modules: map[string]bool{}}
	for _, path := range o.Policies {
		whole, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, err
		}
		r.given = append(r.given, v1alpha1.Text{Value: whole})
	}
	if o.UntilFailure {
		r.maxFailed = 1
	}
	for _, path := range paths {
		files, err := load.Files(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if o.Params.FromFile(f.Path) {
				continue
			}
			if err := r.file(ctx, f); err != nil {
				return nil, err
			}
		}
	}
	return r.report, nil
}

// file runs the tests of a file. It may also be a world, or something that is not ours.
func (r *runner) file(ctx context.Context, f load.Source) error {
	if done, err := r.manifest(ctx, f); done || err != nil {
		return err
	}
	found, problems := load.Documents(f.Path, f.Text)
	if len(found.Policies) > 0 {
		if err := r.rego(ctx, f.Path); err != nil {
			return err
		}
	}
	if len(found.Tests) == 0 && !strings.Contains(string(f.Text), v1alpha1.KindPolicyTest) {
		return nil
	}
	if err := document.Join(problems); err != nil {
		return err
	}
	return r.tests(ctx, f.Path, found.Tests)
}

func (r *runner) tests(ctx context.Context, file string, list []*v1alpha1.PolicyTest) error {
	for _, t := range list {
		if r.ended() {
			return nil
		}
		if len(r.given) > 0 {
			t.Spec.Policies = r.given
		}
		if err := r.test(ctx, file, t); err != nil {
			return err
		}
	}
	return nil
}

// ended reports whether nothing more is to be run.
func (r *runner) ended() bool {
	return r.report.Next > 0 || r.maxFailed > 0 && r.report.Failed() >= r.maxFailed
}

type runner struct {
	options Options
	// embedded, if set, are the policies and tests of one place that is no folder.
	embedded *Embedded
	// maxFailed is how many cases may fail until no more is run; 0 is any number.
	maxFailed int
	report    *Report
	// given are the policies that are tested, instead of those that tests name.
	given   []v1alpha1.Text
	bundles map[string]*source.Bundle
	// modules are the policies' files whose Rego tests have run.
	modules map[string]bool
}

// test runs the cases of one document.
func (r *runner) test(ctx context.Context, file string, t *v1alpha1.PolicyTest) error {
	world, err := r.world(file, t)
	if err != nil {
		return err
	}
	for _, p := range t.Spec.Policies {
		if r.embedded != nil {
			break
		}
		if err := r.rego(ctx, beside(file, p.Value)); err != nil {
			return err
		}
	}
	for i := range t.Spec.Cases {
		c := &t.Spec.Cases[i]
		if !c.Name.Set() {
			return fmt.Errorf("%s: a case has no name", c.Pos)
		}
		if r.embedded.skips(r.report) || r.options.Run != nil && !r.options.Run.MatchString(file+"/"+c.Name.Value) {
			continue
		}
		start := time.Now()
		run := caseRun{runner: r, file: file, test: t, doc: c, world: world}
		out := Case{File: file, Name: c.Name.Value, Position: c.Pos.String(), At: c.Pos, Failures: run.run(ctx), Time: time.Since(start), embedded: r.embedded != nil}
		out.outcomes = run.outcomes
		if run.sim != nil {
			out.Paused = run.sim.Paused()
		}
		r.report.Cases = append(r.report.Cases, out)
		if len(out.Failures) > 0 && r.ended() {
			return nil
		}
	}
	return nil
}

// beside returns the path that a test names; one that is not absolute is relative to the
// test's own folder.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// world reads the objects that the cases of a document share.
func (r *runner) world(file string, t *v1alpha1.PolicyTest) ([]simulate.Object, error) {
	var out []simulate.Object
	for _, path := range t.Spec.World {
		if r.embedded != nil {
			return nil, fmt.Errorf("%s: a test beside its policy gives its objects in place", path.Pos())
		}
		objects, err := simulate.ReadObjects(beside(file, path.Value))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Pos(), err)
		}
		out = append(out, objects...)
	}
	return add(out, t.Spec.Objects)
}

// add adds objects; one of the same identity replaces that of the world.
func add(world []simulate.Object, nodes []*document.Node) ([]simulate.Object, error) {
	out := append([]simulate.Object(nil), world...)
	first := map[simulate.Identity]document.Position{}
	for _, n := range nodes {
		o, err := object(n)
		if err != nil {
			return nil, err
		}
		id := simulate.ID(o)
		if pos, twice := first[id]; twice {
			return nil, fmt.Errorf("%s: %s %s stands twice in one list, first at %s", n.Pos, id.Kind(), id.Name(), pos)
		}
		first[id] = n.Pos
		if at := index(out, simulate.ID(o)); at >= 0 {
			out[at] = o
		} else {
			out = append(out, o)
		}
	}
	return out, nil
}

func object(n *document.Node) (simulate.Object, error) {
	o, ok := n.Plain().(simulate.Object)
	if !ok || simulate.ID(o).Name() == "" || simulate.ID(o).Kind() == "" {
		return nil, fmt.Errorf("%s: an object needs apiVersion, kind and metadata.name", n.Pos)
	}
	return o, nil
}

func index(world []simulate.Object, id simulate.Identity) int {
	return slices.IndexFunc(world, func(o simulate.Object) bool { return simulate.ID(o) == id })
}

// merge applies merge patches, written as partial manifests, to a world.
func merge(world []simulate.Object, patches []*document.Node) ([]simulate.Object, error) {
	out := append([]simulate.Object(nil), world...)
	for _, n := range patches {
		patch, err := object(n)
		if err != nil {
			return nil, err
		}
		at := index(out, simulate.ID(patch))
		if at < 0 {
			return nil, fmt.Errorf("%s: %s", n.Pos, missing(simulate.ID(patch), out))
		}
		if out[at], err = apiserver.Merged(out[at], patch); err != nil {
			return nil, fmt.Errorf("%s: %w", n.Pos, err)
		}
	}
	return out, nil
}

// bundle loads the policies of a test with the parameters of a case.
func (r *runner) bundle(file string, t *v1alpha1.PolicyTest, params compile.Overrides) (*source.Bundle, error) {
	if r.embedded != nil {
		return r.inPlace(t, params)
	}
	paths := make([]string, len(t.Spec.Policies))
	for i, p := range t.Spec.Policies {
		paths[i] = beside(file, p.Value)
		if _, err := os.Stat(paths[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Pos(), err)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: spec.policies says which policies are tested", t.Pos)
	}
	id := fmt.Sprint(paths, params)
	if b, ok := r.bundles[id]; ok {
		if b.Err() != nil {
			return nil, errors.New("its policies do not compile; the first case that tests them says why")
		}
		return b, nil
	}
	b, err := source.Load(paths, source.Options{Schemas: r.options.Schemas, Params: params, Edit: r.options.Edit})
	if err != nil {
		return nil, err
	}
	for _, p := range b.Policies {
		p.Mode = plan.Enforce // what it would do is what a test is about
	}
	r.bundles[id] = b
	for _, p := range b.Problems {
		if p.Code == document.UnknownSchema && !slices.Contains(r.report.Warnings, p) {
			r.report.Warnings = append(r.report.Warnings, p)
		}
	}
	r.cover(b)
	return b, b.Err()
}

// cover makes every rule known to the coverage, but for those that delete what a former text
// of the policy has made: few tests have that.
func (r *runner) cover(b *source.Bundle) {
	for _, p := range b.Policies {
		if r.options.Coverage != nil {
			r.options.Coverage.Know(p)
		}
		of := p.Written()
		if r.report.Coverage[of] == nil {
			r.report.Coverage[of] = map[string]int{}
		}
		for _, rule := range p.Rules {
			if !rule.Former {
				r.report.Coverage[of][rule.Name] += 0
			}
		}
	}
}
