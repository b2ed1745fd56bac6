package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/verify"
)

type verifyFlags struct {
	fileFlags

	perKind, changes, states int
	time                     time.Duration
	file                     string
	expected, forget         []string
}

func verifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify PATH... --objects PATH",
		Short: "Explore what policies do in small worlds, in every order and with crashes",
		Long: `Runs policies from one world to all that can become of it: in every order in which
keys may be decided about, with the process killed after each write, at each
deadline, and with up to --changes changes from outside. It looks for errors, for
policies that never come to rest, for ends that depend on the order or on a crash,
and for writes in a world at rest.

What is found is printed as a PolicyTest that fails. That nothing is found proves
nothing beyond the states that were looked at.

Exit codes: 0 nothing was found, 1 something was.`,
		Example: "  edict verify policies --objects examples/storage --changes 1 --time 30s",
		RunE:    withOutputs(f.run),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.perKind, "objects-per-kind", 2, "how many objects of each kind are taken; 0 takes all")
	flags.IntVar(&f.changes, "changes", 2, "how many changes from outside there may be on the way to a state")
	flags.DurationVar(&f.time, "time", time.Minute, "how long to look; 0 is to the end")
	flags.IntVar(&f.states, "states", verify.DefaultStates, "how many states to look at")
	flags.StringArrayVar(&f.expected, "expect-error", nil, "a part of an error that is no finding; may repeat")
	flags.StringArrayVar(&f.forget, "may-forget", nil, "a policy of which a crash may lose what it remembers; may repeat")
	flags.StringVar(&f.file, "out", "", "a file for the test that fails (default: it is printed)")
	outputFlag(cmd, &f.output, "text", "json")
	return f.register(cmd, "2026-01-01T00:00:00Z")
}

func (f *verifyFlags) run(ctx context.Context, out, errOut io.Writer) error {
	o, test, err := f.options(errOut)
	if err != nil {
		return err
	}
	if isTerminal(errOut) {
		o.Progress = func(e verify.Explored) {
			fmt.Fprintf(direct(errOut), "\r\x1b[K%d states, %d to go on from", e.States, e.Open)
		}
		defer fmt.Fprint(direct(errOut), "\r\x1b[K")
	}
	result, err := verify.Run(ctx, *o)
	if err != nil {
		return found("%v", err)
	}
	text, err := f.document(test, result.Findings)
	if err != nil {
		return err
	}
	if err := f.print(out, result, text); err != nil {
		return err
	}
	if len(result.Findings) > 0 {
		return findings{}
	}
	return nil
}

// options reads what is explored, and what a test of it begins with.
func (f *verifyFlags) options(errOut io.Writer) (*verify.Options, *verify.Test, error) {
	if err := f.open(); err != nil {
		return nil, nil, err
	}
	start := f.instant(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	params, err := f.overrides()
	if err != nil {
		return nil, nil, err
	}
	bundle, err := f.bundle(errOut)
	if err != nil {
		return nil, nil, err
	}
	o := &verify.Options{
		Policies: bundle.Policies, Schemas: bundle.Schemas, Guard: simulate.GuardOf(bundle).Assuming(), Start: start,
		PerKind: f.perKind, Changes: f.changes, Time: f.time, States: f.states, Expected: f.expected, MayForget: f.forget,
	}
	test := &verify.Test{Start: start, Params: params}
	if o.Objects, err = f.read(bundle, f.files...); err != nil {
		return nil, nil, err
	}
	if len(o.Objects) == 0 {
		return nil, nil, found("%s has no objects: name manifests that have some", f.objects)
	}
	if o.Answers, err = f.answerer(); err != nil {
		return nil, nil, err
	}
	return o, test, f.place(test)
}

// place says where a test finds the policies and the answers.
func (f *verifyFlags) place(t *verify.Test) error {
	folder := filepath.Dir(f.file)
	for _, path := range f.policies {
		from, err := relative(folder, path)
		if err != nil {
			return err
		}
		t.Policies = append(t.Policies, from)
	}
	if f.answers == "" {
		return nil
	}
	text, err := os.ReadFile(f.answers)
	if err != nil {
		return err
	}
	t.Answers, err = simulate.ReadAnswers(text)
	return err
}

// document returns a test with a case for each finding, and writes it if a file is named.
func (f *verifyFlags) document(t *verify.Test, list []verify.Finding) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	text, err := t.Document(list)
	if err != nil || f.file == "" {
		return string(text), err
	}
	return string(text), asFinding(os.WriteFile(f.file, text, 0o600))
}

func (f *verifyFlags) print(w io.Writer, r *verify.Result, test string) error {
	if f.output == "json" {
		return writeJSON(w, struct {
			*verify.Result

			Test string `json:"test,omitempty"`
		}{r, test})
	}
	for _, one := range r.Findings {
		fmt.Fprintf(w, "%s: %s\n", one.Kind, strings.TrimSpace(one.Message))
		for i, move := range one.Moves {
			fmt.Fprintf(w, "  %d. %s\n", i+1, move)
		}
		fmt.Fprintln(w)
	}
	switch {
	case test != "" && f.file == "":
		fmt.Fprintln(w, test)
	case test != "":
		fmt.Fprintf(w, "edict test %s fails because of it.\n", f.file)
	}
	return printExplored(w, r, f.changes)
}

// maxUnfired is how many rules that did not fire are named.
const maxUnfired = 10

func printExplored(w io.Writer, r *verify.Result, changes int) error {
	e := r.Explored
	verdict := "Nothing was found"
	if n := len(r.Findings); n > 0 {
		verdict = "Found " + count(n, "fault", "faults")
	}
	_, err := fmt.Fprintf(w, "%s: checked in %s (%s, %d at rest) of a world of %s, with %s, %s and %s; %d of %s fired.\n",
		verdict, count(e.States, "state", "states"), count(e.Moves, "move", "moves"), e.Rests, count(e.Objects, "object", "objects"),
		count(e.Crashes, "crash", "crashes"), count(e.Deadlines, "deadline", "deadlines"), count(e.Changes, "change from outside", "changes from outside"),
		e.Fired, count(e.Rules, "rule", "rules"))
	if n := len(e.Unfired); n > 0 && n <= maxUnfired {
		fmt.Fprintln(w, "Not fired: "+strings.Join(e.Unfired, ", "))
	}
	for _, line := range cutOff(e, changes) {
		fmt.Fprintln(w, "Not looked at: "+line)
	}
	return err
}

// cutOff says what was not explored.
func cutOff(e verify.Explored, changes int) (out []string) {
	if e.Open > 0 && e.Why != "" {
		out = append(out, fmt.Sprintf("what follows on %s (%s)", count(e.Open, "state", "states"), strings.TrimSpace(e.Why)))
	}
	if e.Beyond > 0 {
		out = append(out, fmt.Sprintf("more than %s, in %s", count(changes, "change from outside", "changes from outside"), count(e.Beyond, "state", "states")))
	}
	if e.Clock > 0 {
		out = append(out, "further deadlines, in "+count(e.Clock, "state", "states"))
	}
	if e.Left > 0 {
		out = append(out, count(e.Left, "object", "objects")+" of the manifests, beyond --objects-per-kind")
	}
	return out
}
