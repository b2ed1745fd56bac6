package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// holdFlags say what is held.
type holdFlags struct {
	setClient
	rule, key, reason, output string
	lasts                     time.Duration

	objects *objects
	// within is the namespace of the object of a key without one.
	within string
}

func holdCommand() *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:   "hold SET[/POLICY] [--rule RULE] [--key [NAMESPACE/]NAME] --reason TEXT --for DURATION",
		Short: "Suspend the writes of a set, a policy, a rule or about an object for a while",
		Long: `Adds a hold to spec.holds of a PolicySet. What is held is decided and counted, and not
written, until the time is over or the hold is removed. Without --rule it holds all
rules, without --key all objects.

A key without the namespace of the object is of the namespace of -n. If the policy decides
about a kind without namespaces a key has none.`,
		Example: "  edict hold replica-scheduling --reason 'the storage network is being changed' --for 2h\n" +
			"  edict hold agent-node-label/agent-node-label --rule 'stop the agent' --key node-7 --reason 'disk is being replaced' --for 30m",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.lasts <= 0 || f.lasts > maxHold {
				return fmt.Errorf("--for must be a duration of at most %s, such as 2h", maxHold)
			}
			if f.reason == "" {
				return errors.New("--reason says why, and must not be empty")
			}
			return f.create(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	flags := cmd.Flags()
	f.register(flags, namespaceOfObject)
	flags.StringVar(&f.rule, "rule", "", "one of the rules of the policy")
	flags.StringVar(&f.key, "key", "", "one of the objects that it decides about, as NAMESPACE/NAME or NAME")
	flags.StringVar(&f.reason, "reason", "", "the reason, for those who find it held")
	flags.DurationVar(&f.lasts, "for", 0, "the duration, such as 2h")
	cmd.AddCommand(holdListCommand(), holdReleaseCommand())
	return require(cmd, "reason", "for")
}

// maxHold is the longest that anything is held: what is meant for longer is an
// edit of the policy.
const maxHold = 30 * 24 * time.Hour

// create adds a hold to a set. That there is no such policy, rule or key is a finding: a hold with a
// typo would hold nothing.
func (f *holdFlags) create(ctx context.Context, out io.Writer, name string) error {
	if f.key != "" && !strings.Contains(f.key, "/") {
		f.within, f.Context.Namespace = f.Context.Namespace, ""
	}
	set, err := f.get(ctx, name)
	if err != nil {
		return err
	}
	h := edictv1.Hold{Name: "hold-" + rand.String(5), Rule: f.rule, Key: f.key, Reason: f.reason, By: f.person(ctx), Until: &metav1.Time{Time: time.Now().UTC().Add(f.lasts).Truncate(time.Second)}}
	_, h.Policy = setNamed(name)
	note, err := f.exists(ctx, set, &h)
	if err != nil {
		return err
	}
	if err := f.patch(ctx, set, func(s *edictv1.PolicySet) { s.Spec.Holds = append(s.Spec.Holds, h) }); err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(out, note)
	}
	fmt.Fprintf(out, "%s: %s is held until %s; edict hold release %s ends it\n", h.Name, name, h.Until.Format(time.RFC3339), h.Name)
	return nil
}

// person returns who runs the command, as the API server knows; empty if it does not say.
func (c *setClient) person(ctx context.Context) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.client.Create(ctx, review); err != nil {
		return ""
	}
	return review.Status.UserInfo.Username
}

// exists returns an error if a set does not have the policy or rule of a hold, or if a policy decides
// about no object with its key. The note names a reason for doubt that there is such an object.
func (f *holdFlags) exists(ctx context.Context, set *clusterSet, h *edictv1.Hold) (note string, err error) {
	units := set.present().Units
	if h.Policy != "" {
		var known []string
		for _, u := range units {
			known = append(known, u.Name())
		}
		if units = slices.DeleteFunc(units, func(u *source.Unit) bool { return u.Name() != h.Policy }); len(units) == 0 {
			return "", found("the set %s has no policy %q%s", set.Name, h.Policy, hinted(nameHint(h.Policy, known)))
		}
	}
	var rules []string
	for _, u := range units {
		for i := range u.Document.Spec.Rules {
			rules = append(rules, u.Document.Spec.Rules[i].Name.Value)
		}
	}
	if h.Rule != "" && !slices.Contains(rules, h.Rule) {
		return "", found("%s has no rule %q%s", cmp.Or(h.Policy, set.Name), h.Rule, hinted(document.DidYouMean(h.Rule, rules)))
	}
	if h.Key == "" || len(units) == 0 {
		return "", nil
	}
	if f.objects == nil {
		if f.objects, err = newObjects(f.config); err != nil {
			return "", found("%v", err)
		}
	}
	h.Key, note, err = f.objects.matches(ctx, h.Key, f.within, units[0])
	return note, err
}

// heldRow is a hold, or a pause, as it is listed.
type heldRow struct {
	// Kind is Hold or Pause.
	Kind      string `json:"kind"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace"`
	Set       string `json:"set"`
	Policy    string `json:"policy,omitempty"`
	Rule      string `json:"rule,omitempty"`
	Key       string `json:"key,omitempty"`
	Reason    string `json:"reason"`
	By        string `json:"by,omitempty"`
	// Since is when a pause began, Until when a hold ends.
	Since *metav1.Time `json:"since,omitempty"`
	Until *metav1.Time `json:"until,omitempty"`
	// Objects is the number of objects of the policies with withheld writes.
	Objects int64 `json:"objects"`
}

func holdListCommand() *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List holds and pauses",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := f.list(cmd.Context())
			if err != nil {
				return err
			}
			return outputs(printHoldTable)[f.output](cmd.OutOrStdout(), heldRows(all, time.Now()))
		},
	}
	f.register(cmd.Flags(), namespaceOfSets)
	outputFlag(cmd, &f.output, "table", "yaml", "json")
	return cmd
}

// heldRows returns the holds that have not ended, and the pauses.
func heldRows(all []*clusterSet, now time.Time) []heldRow {
	rows := []heldRow{}
	for _, s := range all {
		withheld := func(policy string) (n int64) {
			for i := range s.Status.Policies {
				if p := &s.Status.Policies[i]; p.Withheld != nil && (policy == "" || p.Name == policy) {
					n += *p.Withheld
				}
			}
			return n
		}
		for i := range s.Spec.Holds {
			if h := &s.Spec.Holds[i]; now.Before(h.Until.Time) {
				rows = append(rows, heldRow{Kind: "Hold", Name: h.Name, Namespace: s.Namespace, Set: s.Name, Policy: h.Policy, Rule: h.Rule, Key: h.Key, Reason: h.Reason, By: h.By, Until: h.Until, Objects: withheld(h.Policy)})
			}
		}
		for i := range s.Status.Policies {
			if p := &s.Status.Policies[i]; p.Pause != nil {
				rows = append(rows, heldRow{Kind: "Pause", Namespace: s.Namespace, Set: s.Name, Policy: p.Name, Rule: p.Pause.Rule, Reason: p.Message, Since: p.Pause.Since, Objects: withheld(p.Name)})
			}
		}
	}
	return rows
}

func printHoldTable(w io.Writer, rows []heldRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is held or paused.")
		return err
	}
	lines := [][]string{{"KIND", "NAME", "NAMESPACE", "SET", "POLICY", "RULE", "KEY", "UNTIL", "BY", "OBJECTS", "REASON"}}
	for _, r := range rows {
		until := "resumed"
		if r.Until != nil {
			until = r.Until.UTC().Format(time.RFC3339)
		}
		lines = append(lines, []string{r.Kind, r.Name, r.Namespace, r.Set, r.Policy, r.Rule, r.Key, until, r.By, strconv.FormatInt(r.Objects, 10), r.Reason})
	}
	return table(w, lines)
}

func holdReleaseCommand() *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:     "release NAME...",
		Short:   "End holds before their time",
		Example: "  edict hold release hold-x7k2p",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.release(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	f.register(cmd.Flags(), namespaceOfSets)
	return cmd
}

// release removes holds from their sets.
func (f *holdFlags) release(ctx context.Context, out io.Writer, names []string) error {
	all, err := f.list(ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, s := range all {
		for i := range s.Spec.Holds {
			known = append(known, s.Spec.Holds[i].Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return found("nothing is held as %q%s", name, hinted(document.DidYouMean(name, known)))
		}
	}
	named := func(h edictv1.Hold) bool { return slices.Contains(names, h.Name) }
	for _, s := range all {
		if !slices.ContainsFunc(s.Spec.Holds, named) {
			continue
		}
		err := f.patch(ctx, s, func(s *edictv1.PolicySet) { s.Spec.Holds = slices.DeleteFunc(slices.Clone(s.Spec.Holds), named) })
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "released: %s\n", strings.Join(names, ", "))
	return nil
}

func resumeCommand() *cobra.Command {
	var c setClient
	cmd := &cobra.Command{
		Use:   "resume SET",
		Short: "Resume the policies of a set that limits have paused",
		Long: `Sets spec.resumedAt of a PolicySet: policies that were paused before because they wrote
or removed more than their limit write again. What they may write within a window is
counted from the beginning. edict hold list shows what is paused; edict rollback takes
the last edit back, which ends a pause as well.`,
		Example: "  edict resume agent-node-label",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := c.get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			paused := slices.ContainsFunc(set.Status.Policies, func(p edictv1.PolicyStatus) bool { return p.Pause != nil })
			if !paused {
				return found("no policy of the set %s is paused", set.Name)
			}
			now := metav1.Now()
			if err := c.patch(cmd.Context(), set, func(s *edictv1.PolicySet) { s.Spec.ResumedAt = &now }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the policies of the set %s go on\n", set.Name)
			return nil
		},
	}
	c.register(cmd.Flags(), namespaceOfSets)
	return cmd
}
