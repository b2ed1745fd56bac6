package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/source"
)

// captureFlags are those of edict capture.
type captureFlags struct {
	explain explainFlags
	file    string
}

func captureCommand() *cobra.Command {
	var f captureFlags
	cmd := &cobra.Command{
		Use:   "capture POLICY [NAMESPACE/]NAME",
		Short: "Write a decision down as a policy test",
		Long: `Evaluates a policy for one object and writes the decision down as a PolicyTest
that needs nothing else: the objects that were read, with the fields that were, the
time, the params, the answers of builtins and what was remembered, and as
expectation what the decision does. edict test runs it.

Without -f and --objects the controller that leads is asked for its last decision, or one at an
--address, and the text of the policy is written beside the test. A file that is
there with another content is not overwritten, except FILE of --out.

Of Secrets the test has digests in place of values. The test is run before it is
written; a decision that a test cannot make again, such as one that runs what was
debounced before, is an error.

-o json writes the test in JSON to standard output; with --out FILE, which is
YAML, it says there what was written.`,
		Example: "  edict capture storage-pool-eligibility fast -f policies --objects examples/storage --out policy-tests/fast.yaml\n" +
			"  edict capture agent-node-label node-a1 --out captured/node-a1.yaml",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.explain.name(args)
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.explain.world.register(cmd, namespaceOfObject)
	f.explain.live.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.file, "out", "", "the file to write (default: standard output, for a file in the working directory)")
	flags.BoolVar(&f.explain.lastWrite, "last-write", false, "of a running controller, or with --until: the last decision that wrote something, instead of the last")
	outputFlag(cmd, &f.explain.output, "text", "json")
	flags.Var(until{&f.explain.until}, "until", "run all policies first, until nothing is left to do and for so long, such as 0s or 1h")
	return cmd
}

func (f *captureFlags) run(ctx context.Context, out, errOut io.Writer) error {
	text, err := f.text(ctx, errOut)
	if err != nil {
		return err
	}
	if f.file == "" {
		return f.print(out, text)
	}
	if err := writeTest(f.file, text); err != nil {
		return asFinding(err)
	}
	if err := f.check(ctx); err != nil {
		return err
	}
	if f.explain.output == "json" {
		return writeJSON(out, map[string]any{"file": f.file, "policy": f.explain.policy, "key": f.explain.key})
	}
	_, err = fmt.Fprintf(errOut, "%s: run it with edict test %s\n", f.file, f.file)
	return err
}

// print writes the test to standard output.
func (f *captureFlags) print(out io.Writer, text []byte) error {
	if f.explain.output != "json" {
		_, err := out.Write(text)
		return err
	}
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	return writeJSON(out, document)
}

// check runs the test that was written.
func (f *captureFlags) check(ctx context.Context) error {
	report, err := policytest.Run(ctx, []string{f.file}, policytest.Options{Schemas: f.explain.world.origin.schemas})
	if err != nil {
		return found("%v", err)
	}
	for _, c := range report.Cases {
		if len(c.Failures) > 0 {
			return found("%s is written and fails: %s", f.file, c.Failures[0])
		}
	}
	return nil
}

// text returns the test: of the last decision of a running controller, or of one
// that is made here.
func (f *captureFlags) text(ctx context.Context, errOut io.Writer) ([]byte, error) {
	if f.explain.asksLive() {
		text, err := f.ask(ctx)
		// An evaluation here does not know what was written.
		if err == nil || f.explain.live.endpoint.address != "" || f.explain.lastWrite {
			return text, asFinding(err)
		}
		fmt.Fprintln(errOut, "edict: "+f.explain.live.unanswered(err))
	}
	in, r, err := f.explain.decide(ctx, errOut)
	if err != nil {
		return nil, err
	}
	files, err := f.policyFiles(in.unitOf(r.Inputs.Policy))
	if err != nil {
		return nil, asFinding(err)
	}
	text, err := capture.Test(ctx, r, capture.Options{Policies: files, Schemas: in.bundle.Schemas, Guard: in.guard})
	return text, asFinding(err)
}

// ask asks a running controller for the test of its last decision.
func (f *captureFlags) ask(ctx context.Context) ([]byte, error) {
	more := url.Values{"lastWrite": {strconv.FormatBool(f.explain.lastWrite)}}
	if f.explain.within == "" && f.explain.live.endpoint.address != "" {
		name := f.explain.policy + ".yaml"
		if err := f.wantPolicy(name); err != nil {
			return nil, err
		}
		return f.askTest(ctx, name, more)
	}
	u, err := f.decidedBy(ctx, more)
	if err != nil {
		return nil, err
	}
	more.Set("revision", u.Revision()) // another one may decide meanwhile
	text, err := f.askTest(ctx, filepath.Base(u.File.Path), more)
	if err != nil {
		return nil, err
	}
	_, err = f.policyFiles(u)
	return text, asFinding(err)
}

// askTest asks for the test, of a policy that is in a file.
func (f *captureFlags) askTest(ctx context.Context, file string, more url.Values) ([]byte, error) {
	more.Set("policies", file)
	return f.explain.live.ask(ctx, &f.explain.world.origin, asked(live.CapturePath, f.explain.policy, f.explain.key, more))
}

// decidedBy returns the text that a running controller decided by, which need not be the
// one in force: of some objects another decides while it comes into force in steps.
func (f *captureFlags) decidedBy(ctx context.Context, more url.Values) (*source.Unit, error) {
	answer, err := f.explain.live.decision(ctx, &f.explain.world.origin, f.explain.policy, f.explain.key, more)
	if err != nil {
		return nil, err
	}
	set, err := f.explain.world.origin.get(ctx, answer.Decision.Policy)
	if err != nil {
		return nil, err
	}
	texts := []*source.Contents{set.present()}
	for _, t := range set.texts {
		texts = append(texts, source.Read(source.NewSet(&set.PolicySet), t.ConfigMap))
	}
	for _, text := range texts {
		for _, u := range text.Units {
			if u.ID() == answer.Decision.Policy && u.Revision() == answer.Decision.Revision {
				return u, nil
			}
		}
	}
	return nil, found("the revision %s of the policy %s is neither in the ConfigMap nor in the history", answer.Decision.Revision, answer.Decision.Policy)
}

// wantPolicy reports as an error that a test in a file would be without the text of its
// policy, which an address does not give.
func (f *captureFlags) wantPolicy(name string) error {
	if f.file == "" {
		return nil
	}
	path := filepath.Join(filepath.Dir(f.file), name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the test needs the text of the policy, which an address does not give: give the namespace by -n too, which writes it beside the test, or put it there as %s", path)
	}
	return nil
}

// unitOf returns the text of a policy.
func (in *input) unitOf(p *plan.Policy) *source.Unit {
	for _, u := range in.bundle.Units {
		if u.ID() == p.ID() {
			return u
		}
	}
	return nil // cannot be: the policy was compiled from it
}
