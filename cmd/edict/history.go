package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/rollout"
)

// historyFlags say where the revisions of policies are kept.
type historyFlags struct {
	kubeconfig, namespace, output string
}

func (f *historyFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	flags.StringVar(&f.namespace, "policy-namespace", defaultNamespace, "the namespace of the ConfigMaps with policies")
}

func historyCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history [POLICY...] [--policy-namespace NAMESPACE]",
		Short: "List the revisions of policies: who wrote them, when, and their results",
		Long: `Lists the last ten revisions of every policy, or of those that are named, as the
controller keeps them in ControllerRevisions of the namespace.

RESULT is Active for a revision that was in force, RollingOut for one that comes
into force in steps, Waiting, Refused, RolledBack, or Stopped for the last one of a
policy that is gone or disabled by its text. Below the table is how far rollouts have come. AUTHOR is the field
manager that wrote the ConfigMap. edict rollback takes the number.`,
		Example: "  edict history --policy-namespace edict-system agent-node-label",
		RunE: func(cmd *cobra.Command, args []string) error {
			print, ok := historyPrinters[f.output]
			if !ok {
				return fmt.Errorf("unknown output %q: table, yaml or json", f.output)
			}
			shown, err := f.run(cmd.Context(), args)
			if err != nil {
				return err
			}
			return print(cmd.OutOrStdout(), shown)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table, yaml or json")
	return cmd
}

// shownEntry is a revision as it is printed.
type shownEntry struct {
	Policy   string         `json:"policy"`
	Number   int64          `json:"number"`
	Revision string         `json:"revision"`
	Result   history.Result `json:"result"`
	// InForce says that the policy runs by this revision now.
	InForce   bool      `json:"inForce"`
	Edited    time.Time `json:"edited"`
	Author    string    `json:"author"`
	ConfigMap string    `json:"configMap"`
	Key       string    `json:"key"`
	// Values are those that were given for params, as name=value.
	Values []string `json:"values,omitempty"`
	// Rollout is how far the rollout of the revision has come.
	Rollout *rollout.Status `json:"rollout,omitempty"`
	Text    string          `json:"text"`
}

func (f *historyFlags) run(ctx context.Context, names []string) ([]shownEntry, error) {
	client, err := f.client()
	if err != nil {
		return nil, err
	}
	// The controller writes a revision into the history before it says that it runs, so
	// that what runs is read first.
	running, rollouts, err := f.readRunning(ctx, client)
	if err != nil {
		return nil, err
	}
	entries, err := f.read(ctx, client)
	if err != nil {
		return nil, err
	}
	known := sortedNames(entries)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, found("no revision of a policy %q is kept in the namespace %s%s", name, f.namespace, hinted(nameHint(name, known)))
		}
	}
	out := []shownEntry{}
	for _, name := range known {
		if len(names) == 0 || slices.Contains(names, name) {
			out = append(out, shownHistory(entries[name], running)...)
		}
	}
	return withRollouts(out, rollouts), nil
}

// readRunning reads which revisions run, as policy=revision, and how far rollouts have
// come.
func (f *historyFlags) readRunning(ctx context.Context, client kubernetes.Interface) (running []string, rollouts []rollout.Status, err error) {
	holders, err := client.CoreV1().ConfigMaps(f.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPolicy + "=true"})
	if err != nil {
		return nil, nil, found("%v", err)
	}
	for _, m := range holders.Items {
		running = append(running, strings.Fields(m.Annotations[v1alpha1.AnnotationPolicies])...)
		some, err := rollout.ParseStatus(m.Annotations[v1alpha1.AnnotationRolloutStatus])
		if err != nil {
			return nil, nil, found("ConfigMap %s/%s: %v", m.Namespace, m.Name, err)
		}
		rollouts = append(rollouts, some...)
	}
	return running, rollouts, nil
}

// withRollouts adds how far rollouts have come to the newest entries of their
// revisions.
func withRollouts(list []shownEntry, rollouts []rollout.Status) []shownEntry {
	for i := range rollouts {
		s := &rollouts[i]
		at := slices.IndexFunc(list, func(e shownEntry) bool { return e.Policy == s.Policy && e.Revision == s.Revision })
		if at >= 0 {
			list[at].Rollout = s
		}
	}
	return list
}

func (f *historyFlags) client() (kubernetes.Interface, error) {
	client, _, err := clusterClient(f.kubeconfig)
	if err != nil {
		return nil, found("%v", err)
	}
	return client, nil
}

// read lists what is kept.
func (f *historyFlags) read(ctx context.Context, client kubernetes.Interface) (map[string][]*history.Entry, error) {
	list, err := client.AppsV1().ControllerRevisions(f.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision})
	if err != nil {
		return nil, found("listing the kept revisions: %v", err)
	}
	var broken error
	entries := history.List(list.Items, func(name string, err error) {
		broken = found("the ControllerRevision %s/%s cannot be read: %v", f.namespace, name, err)
	})
	return entries, broken
}

// shownHistory makes the revisions of a policy ready to print, the newest first.
// The running policies are policy=revision.
func shownHistory(list []*history.Entry, running []string) (out []shownEntry) {
	current := false
	for _, e := range slices.Backward(list) {
		runs := !current && slices.Contains(running, e.Policy+"="+e.Revision)
		current = current || runs
		out = append(out, shownEntry{
			Policy: e.Policy, Number: e.Number, Revision: e.Revision, Result: e.Result, InForce: runs, Edited: e.Edited.UTC(), Author: e.Author,
			ConfigMap: e.ConfigMap(), Key: e.Key(), Values: e.Values(), Text: e.Text,
		})
	}
	return out
}

func sortedNames[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

var historyPrinters = printers(printHistory)

// printHistory shows the revisions in lines, without their texts.
func printHistory(w io.Writer, list []shownEntry) error {
	rows := [][]string{{"POLICY", "NUMBER", "REVISION", "RESULT", "IN FORCE", "EDITED", "AUTHOR", "CONFIGMAP/KEY", "VALUES"}}
	for _, e := range list {
		inForce, values := "", ""
		if e.InForce {
			inForce = "yes"
		}
		if len(e.Values) > 0 {
			values = short(strings.Join(e.Values, " "))
		}
		rows = append(rows, []string{
			e.Policy, strconv.FormatInt(e.Number, 10), e.Revision, string(e.Result), inForce,
			e.Edited.Format(time.RFC3339), e.Author, e.ConfigMap + "/" + e.Key, values,
		})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	for _, e := range list {
		if e.Rollout != nil {
			fmt.Fprintln(w, e.Rollout.String())
		}
	}
	return nil
}
