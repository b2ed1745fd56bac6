package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
)

// explainFlags are those of edict explain.
type explainFlags struct {
	world          worldFlags
	live           liveFlags
	whyNot, output string
	until          *time.Duration
	// lastWrite asks for the last decision that wrote something.
	lastWrite bool
	// log is a file with the log of the controller.
	log    string
	policy string
	key    eval.Key
	// within is the namespace of -n.
	within string
}

func explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [SET/]POLICY [NAMESPACE/]NAME | TYPE/NAME",
		Short: "Say why a policy decides as it does about an object",
		Long: `Evaluates a policy for one object and says why the decision comes out as it
does: one sentence, then the rules with the values of the conditions that decided,
the candidates of selections, what was read, what is written, and the times at
which the decision changes by itself.

--why-not NAME says why something was not chosen or listed: the step that excluded
a candidate, the points by which it lost, or the condition that leaves an object
out of an input or a list.

The controller that leads is asked for its last decision, through a port-forward to its
Pod, or one at an --address. It evaluates anew when it no longer has the decision. With
-f or --objects the policy is evaluated here.

With one argument, TYPE/NAME as for kubectl, it says which policies wrote that object
of the cluster and for which objects they did, from its managedFields, the logs of the
controller's Pods and the decisions of the one that leads, and which command explains the
decision.`,
		Example: "  edict explain storage-pool-eligibility fast -f policies --objects examples/storage --why-not node-b2\n" +
			"  edict explain replica-scheduling logs -f policies --objects examples/storage --until 0s --why-not node-a2\n" +
			"  edict explain agent-node-label/agent-node-label node-c2\n" +
			"  edict explain deployment/web -n shop",
		Args: explainArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return f.runObject(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			f.name(args)
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.world.register(cmd, namespaceOfObject)
	f.live.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.whyNot, "why-not", "", "the name of a candidate, object or item, to be told why it was not chosen or listed")
	flags.Var(until{&f.until}, "until", "run all policies first, until nothing is left to do and for so long, such as 0s or 1h")
	flags.BoolVar(&f.lastWrite, "last-write", false, "of a running controller, or with --until: the last decision that wrote something, instead of the last")
	outputFlag(cmd, &f.output, "text", "json")
	flags.StringVar(&f.log, "log", "", "of TYPE/NAME: a file with the log of the controller, - for standard input (default: the logs of its Pods)")
	return cmd
}

// explainArgs takes a policy and an object that it decides about, or an object of the
// cluster, which policies may have written.
func explainArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cobra.ExactArgs(2)(cmd, args)
	}
	if typ, name, _ := strings.Cut(args[0], "/"); typ == "" || name == "" || strings.Contains(name, "/") {
		if strings.Contains(args[0], ".") {
			return fmt.Errorf("%q is not TYPE/NAME, such as deployment/web; the fields of policies are in docs/reference.md and edict schema policy, those of kinds in kubectl explain", args[0])
		}
		return fmt.Errorf("%q is not TYPE/NAME, such as deployment/web; if it is a policy, name the object, too", args[0])
	}
	if cmd.Flags().Changed("filename") || cmd.Flags().Changed("objects") {
		return fmt.Errorf("%s is looked up in a cluster, without -f and --objects; if it is a policy, name the object, too", args[0])
	}
	return nil
}

// name takes the policy and the object that are named. An object without a namespace is in that of -n,
// which is otherwise that of the set.
func (f *explainFlags) name(args []string) {
	o := &f.world.origin
	f.policy, f.key, f.within, o.about = args[0], eval.ParseKey(args[1]), o.Context.Namespace, args[:1]
	if f.key.Namespace == "" {
		f.key.Namespace, o.Context.Namespace = f.within, ""
	}
}

func (f *explainFlags) run(ctx context.Context, out, errOut io.Writer) error {
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
		return found("%s knows nothing named %q that could be chosen or listed for %s%s", f.policy, f.whyNot, f.key, hinted(cmp.Or(document.DidYouMean(f.whyNot, explain.Names(doc)), "it knows "+joinFirst(explain.Names(doc)))))
	}
	fmt.Fprintln(out, strings.Join(lines, "\n"))
	return nil
}

// asksLive reports whether a running controller is asked: policies and objects of
// files are for an evaluation here.
func (f *explainFlags) asksLive() bool {
	return f.live.endpoint.address != "" || len(f.world.origin.policies) == 0 && f.world.objects == "" && f.until == nil
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
	in, r, err := f.decide(ctx, errOut)
	if err != nil {
		return nil, err
	}
	doc := r.RenderAbout(ctx, f.whyNot)
	for i := range doc.Reads {
		for _, o := range in.objects {
			if one := &doc.Reads[i]; one.Deleting && record.ObjectOf(simulate.ID(o)) == one.ObjectDocument {
				one.Finalizers = (&unstructured.Unstructured{Object: o}).GetFinalizers()
			}
		}
	}
	return &live.Answer{Kind: r.Inputs.Policy.Primary.Kind, Decision: doc}, nil
}

// decide evaluates the policy for the key, and returns the record.
func (f *explainFlags) decide(ctx context.Context, errOut io.Writer) (*input, *record.Record, error) {
	o := &f.world.origin
	if len(o.policies) == 0 {
		if err := o.home(ctx, f.policy); err != nil {
			return nil, nil, err
		}
	}
	if f.until != nil { // all policies run
		o.about = nil
	}
	in, err := f.world.load(ctx, errOut)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := chooseOne(in.bundle.Policies, f.policy)
	if typed := f.policy + "/" + f.key.Name; err != nil && document.DidYouMean(f.policy, policyNames(in.bundle.Policies)) == "" {
		return nil, nil, found("%v; edict explain %s says which policies wrote such an object of a cluster", err, typed)
	}
	if err != nil {
		return nil, nil, err
	}
	if f.policy = chosen.ID(); f.key.Namespace == f.within { // of -n, as kubectl
		f.key = live.KeyOf(in.bundle.Schemas, chosen, f.key)
	}
	log := &record.Log{Size: 1 << 20}
	sim := in.simulation(ctx, log, f.until)
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
	if f.until == nil || r == nil {
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

// simulation runs the policies on the objects: not at all when until is nil, else
// until nothing is left to do, and on for that long.
func (in *input) simulation(ctx context.Context, log *record.Log, until *time.Duration) *simulate.Simulation {
	sim := simulate.New(ctx, simulate.Options{
		Policies: in.bundle.Policies, Schemas: in.bundle.Schemas, Objects: in.objects, Guard: in.guard, Start: in.start, Answers: in.answers, Records: log,
	})
	if until != nil {
		sim.Settle(ctx)
		sim.Advance(ctx, in.start.Add(*until))
	}
	return sim
}

// runObject prints the policies that wrote an object, TYPE/NAME, and their keys.
func (f *explainFlags) runObject(ctx context.Context, arg string, out, errOut io.Writer) error {
	o := &f.world.origin
	client, config, err := o.clientset()
	if err != nil {
		return err
	}
	namespace, _, err := o.loaded().Namespace()
	if err != nil {
		return found("%v", err)
	}
	doc, err := cluster.FindWriters(ctx, config, client, arg, namespace)
	if err != nil {
		return found("%v", err)
	}
	o.Context.Namespace = "" // it is that of the object
	homes, err := o.homes(ctx)
	if err != nil {
		fmt.Fprintf(errOut, "edict: %v\n", err)
	}
	if err := f.readLog(ctx, client, homes, doc); err != nil {
		fmt.Fprintf(errOut, "edict: the log of the controller cannot be read: %v; give it with --log FILE\n", err)
	}
	next := fmt.Sprintf("ask the controller that leads, edict explain %s -n %s", arg, namespace)
	for _, o.Context.Namespace = range homes {
		if f.log != "" && f.live.endpoint.address == "" {
			break
		}
		if since, err := f.askWrites(ctx, doc); err != nil {
			fmt.Fprintf(errOut, "edict: the decisions of the controller that leads cannot be read: %v\n", err)
		} else {
			next = "the controller that leads keeps its decisions since " + since.Format(time.RFC3339)
		}
	}
	if len(doc.Managers)+len(doc.Writes) == 0 {
		reason, hint := "the managedFields of "+doc.Object.Kind+" "+arg+" and the log name no policy", ""
		if doc.Missing {
			reason = fmt.Sprintf("%s %s does not exist, or not in the namespace %s (-n), and the log names no policy", doc.Object.Kind, arg, namespace)
		}
		if len(doc.LeftOut) > 0 {
			hint = fmt.Sprintf("the log leaves out writes of %s: %s", joinFirst(slices.Sorted(maps.Keys(doc.LeftOut))), next)
		}
		return found("%s%s", reason, hinted(hint))
	}
	if f.output == "json" {
		return writeJSON(out, doc)
	}
	return printWriters(out, doc, next)
}

// askWrites adds the writes of the decisions that the controller that leads keeps, and
// returns the time of the oldest.
func (f *explainFlags) askWrites(ctx context.Context, doc *cluster.Written) (time.Time, error) {
	of, answer := doc.Object, live.Writes{}
	values := url.Values{"apiVersion": {of.APIVersion}, "kind": {of.Kind}, "namespace": {of.Namespace}, "name": {of.Name}}
	body, err := f.live.ask(ctx, &f.world.origin, live.WritesPath+"?"+values.Encode())
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	doc.Add(answer.Writes)
	return answer.Since, err
}

// readLog reads the log of the controllers in some namespaces.
func (f *explainFlags) readLog(ctx context.Context, client kubernetes.Interface, homes []string, doc *cluster.Written) error {
	switch f.log {
	case "":
		for _, home := range homes {
			if err := doc.ReadPodLogs(ctx, client, home); err != nil {
				return err
			}
		}
		return nil
	case "-":
		return doc.ReadLog(os.Stdin)
	}
	file, err := os.Open(f.log)
	if err != nil {
		return err
	}
	defer file.Close()
	return doc.ReadLog(file)
}

// printWriters shows who wrote an object, and which commands explain the decisions.
func printWriters(out io.Writer, d *cluster.Written, next string) error {
	rows, keys := [][]string{{d.Object.Kind + " " + eval.Key{Namespace: d.Object.Namespace, Name: d.Object.Name}.String() + " was written by:"}}, map[string]string{}
	for _, m := range d.Managers {
		at := ""
		if m.At != nil {
			at = m.At.UTC().Format(time.RFC3339)
		}
		keys[m.Policy] = "KEY"
		rows = append(rows, []string{"  " + m.Policy, at, joinFirst(m.Fields)})
	}
	if len(d.Writes) > 0 {
		rows = append(rows, []string{"Writes:"})
	}
	for i := range d.Writes {
		one := &d.Writes[i]
		if key := keys[one.Policy]; key == "" || key == "KEY" {
			keys[one.Policy] = one.Key
		}
		rows = append(rows, []string{"  " + one.At.UTC().Format(time.RFC3339), one.Policy, one.Rule, "for " + one.Key, causes(one.WokenBy), joinFirst(one.Fields)})
	}
	for _, policy := range slices.Sorted(maps.Keys(keys)) {
		if n := d.LeftOut[policy]; n > 0 {
			rows = append(rows, []string{fmt.Sprintf("The log leaves out %d writes of %s: %s", n, policy, next)})
		}
	}
	rows = append(rows, []string{"Run next, where KEY is the object that the policy decides about:"})
	for _, policy := range slices.Sorted(maps.Keys(keys)) {
		rows = append(rows, []string{fmt.Sprintf("  edict explain %s %s --last-write", policy, keys[policy])})
	}
	return table(out, rows)
}

// causes lists the objects and deadlines that woke a key.
func causes(list []record.WakeDocument) string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		text := string(w.Reason)
		if o := w.Object; o != nil {
			text += " " + o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
		}
		out = append(out, text)
	}
	return joinFirst(out)
}

// joinFirst joins the first of a list, with the number of the others.
func joinFirst(list []string) string {
	const most = 3
	text := strings.Join(list[:min(len(list), most)], ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return text
}
