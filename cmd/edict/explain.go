package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
)

// explainFlags are those of edict explain.
type explainFlags struct {
	world                 worldFlags
	live                  liveFlags
	whyNot, until, output string
	// lastWrite asks for the last decision that wrote something.
	lastWrite bool
	policy    string
	key       eval.Key
}

func explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain POLICY [NAMESPACE/]NAME",
		Short: "Say why a policy decides as it does about an object",
		Long: `Evaluates a policy for one object and says why the decision comes out as it
does: one sentence, then the rules with the values of the conditions that decided,
the candidates of selections, what was read, what is written, and the times at
which the decision changes by itself.

--why-not NAME says why something was not chosen or listed: the step that excluded
a candidate, the points by which it lost, or the condition that leaves an object
out of an input or a list.

With --policy-namespace alone the controller that leads is asked for its last
decision, through a port-forward to its Pod; with --address one at an address. It
evaluates anew when it no longer has the decision. With --policies or --objects the policy is evaluated here.`,
		Example: "  edict explain storage-pool-eligibility fast --policies policies --objects examples/storage --why-not node-b2\n" +
			"  edict explain replica-scheduling logs --policies policies --objects examples/storage --until 0s --why-not node-a2\n" +
			"  edict explain agent-node-label node-c2 --policy-namespace edict-system",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.policy, f.key = args[0], eval.ParseKey(args[1])
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.world.register(cmd)
	f.live.register(cmd)
	cmd.MarkFlagsOneRequired("policies", "policy-namespace", "address")
	flags := cmd.Flags()
	flags.StringVar(&f.whyNot, "why-not", "", "the name of a candidate, object or item, to be told why it was not chosen or listed")
	flags.StringVar(&f.until, "until", "", "run all policies first, until nothing is left to do and for so long, such as 0s or 1h")
	flags.BoolVar(&f.lastWrite, "last-write", false, "of a running controller, or with --until: the last decision that wrote something, instead of the last")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	return cmd
}

func (f *explainFlags) run(ctx context.Context, out, errOut io.Writer) error {
	if err := wantOutput(f.output, "text", "json"); err != nil {
		return err
	}
	answer, err := f.answer(ctx, errOut)
	if err != nil {
		return err
	}
	doc := answer.Decision
	if f.output == "json" {
		return writeJSON(out, doc)
	}
	if f.whyNot == "" {
		if answer.LastWrite != "" {
			fmt.Fprintf(out, "Last write: %s (--last-write shows that decision)\n\n", strings.TrimSuffix(answer.LastWrite, "."))
		}
		return explain.Text(out, answer.Kind, doc)
	}
	lines := explain.WhyNot(doc, f.whyNot)
	if len(lines) == 0 {
		return found("%s knows nothing named %q that could be chosen or listed for %s%s", f.policy, f.whyNot, f.key, hinted(document.DidYouMean(f.whyNot, explain.Names(doc))))
	}
	fmt.Fprintln(out, strings.Join(lines, "\n"))
	return nil
}

// asksLive reports whether a running controller is asked: policies and objects of
// files are for an evaluation here.
func (f *explainFlags) asksLive() bool {
	return f.live.endpoint.address != "" || len(f.world.origin.policies) == 0 && f.world.objects == "" && f.until == ""
}

// answer returns the last decision of a running controller, or that of an
// evaluation here.
func (f *explainFlags) answer(ctx context.Context, errOut io.Writer) (*live.Answer, error) {
	if f.asksLive() {
		answer, err := f.live.decision(ctx, &f.world.origin, f.policy, f.key, url.Values{"about": {f.whyNot}, "lastWrite": {strconv.FormatBool(f.lastWrite)}})
		// An evaluation here does not know what was written.
		if err == nil || f.live.endpoint.address != "" || f.lastWrite {
			return answer, asFinding(err)
		}
		fmt.Fprintln(errOut, "edict: "+f.live.unanswered(err))
	}
	_, r, err := f.decide(ctx, errOut)
	if err != nil {
		return nil, err
	}
	return &live.Answer{Kind: r.Inputs.Policy.Primary.Kind, Decision: r.RenderAbout(ctx, f.whyNot)}, nil
}

// asFinding makes an error one of what was asked about, not of how.
func asFinding(err error) error {
	if err == nil {
		return nil
	}
	return found("%v", err)
}

// decide evaluates the policy for the key, and returns the record.
func (f *explainFlags) decide(ctx context.Context, errOut io.Writer) (*input, *record.Record, error) {
	if f.until == "" { // else all policies run
		f.world.origin.about = []string{f.policy}
	}
	in, err := f.world.load(ctx, errOut)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := chooseOne(in.bundle.Policies, f.policy)
	if err != nil {
		return nil, nil, err
	}
	f.policy = chosen.Name
	log := &record.Log{Size: 1 << 20}
	sim, err := in.simulation(ctx, log, f.until)
	if err != nil {
		return nil, nil, err
	}
	c := sim.Controller(f.policy)
	if c == nil {
		return nil, nil, found("the policy %s is %s: nothing is decided by it", f.policy, strings.ToLower(string(chosen.Mode)))
	}
	r := log.Last(f.policy, f.key)
	if f.lastWrite {
		if r = log.LastWrite(f.policy, f.key); r == nil {
			return nil, nil, found("the policy %s wrote nothing for %s", f.policy, f.key)
		}
		return in, r, nil
	}
	if f.until == "" || r == nil {
		r = c.Look(ctx, f.key, sim.Now(), nil)
	}
	if !r.Exists() {
		return nil, nil, found("there is no %s %s that the policy %s decides about%s", chosen.Primary.Kind, f.key, f.policy, hinted(keyHint(f.key, c.Keys())))
	}
	return in, r, nil
}

// keyHint says which of the keys was probably meant by one that is none of them.
func keyHint(key eval.Key, keys []eval.Key) string {
	var named []string
	for _, k := range keys {
		if k.Name == key.Name {
			named = append(named, k.String())
		}
	}
	switch {
	case len(named) > 0 && len(keys) > 0 && keys[0].Namespace == "":
		return "the kind has no namespaces: write " + named[0]
	case len(named) > 0:
		return "the kind has namespaces: write " + strings.Join(named[:min(len(named), 3)], " or ")
	default:
		return document.DidYouMean(key.String(), keysOf(keys))
	}
}

func keysOf(keys []eval.Key) (out []string) {
	for _, key := range keys {
		out = append(out, key.String())
	}
	return out
}

// simulation runs the policies on the objects: not at all when until is "", else
// until nothing is left to do, and on for that long.
func (in *input) simulation(ctx context.Context, log *record.Log, until string) (*simulate.Simulation, error) {
	on, err := untilOf(until)
	if err != nil {
		return nil, err
	}
	sim := simulate.New(ctx, simulate.Options{
		Policies: in.bundle.Policies, Schemas: in.bundle.Schemas, Objects: in.objects, Guard: in.guard, Start: in.start, Answers: in.answers, Records: log,
	})
	if until != "" {
		sim.Settle(ctx)
		sim.Advance(ctx, in.start.Add(on))
	}
	return sim, nil
}
