package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
)

func historyCommand() *cobra.Command {
	var c setClient
	output := ""
	cmd := &cobra.Command{
		Use:   "history [SET...]",
		Short: "List the texts of sets that were active: who wrote them and when",
		Long: `Lists the last texts of every set, or of those that are named, which the controller
keeps in ControllerRevisions of the namespace. ACTIVE is the time since which a text was
active for all policies; CURRENT marks the one that status.revision names. AUTHOR is the
user who wrote the ConfigMap if the webhook saw it, or the field manager. edict rollback takes the number.`,
		Example: "  edict history agent-node-label",
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := c.rows(cmd.Context(), args)
			if err != nil {
				return err
			}
			return outputs(printHistory)[output](cmd.OutOrStdout(), rows)
		},
	}
	c.register(cmd.Flags(), namespaceOfSets)
	outputFlag(cmd, &output, "table", "yaml", "json")
	return cmd
}

// rows returns the texts of some sets, or of all.
func (c *setClient) rows(ctx context.Context, names []string) (out []shownText, err error) {
	var sets []*clusterSet
	if len(names) == 0 {
		sets, err = c.list(ctx)
	}
	for _, name := range names {
		s, err := c.get(ctx, name)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	out = []shownText{}
	for _, s := range sets {
		out = append(out, shownTexts(s)...)
	}
	return out, err
}

// shownText is a text of a set as it is printed.
type shownText struct {
	Namespace string `json:"namespace"`
	Set       string `json:"set"`
	Number    int64  `json:"number"`
	Revision  string `json:"revision"`
	Digest    string `json:"digest"`
	// Current reports whether the set runs it now.
	Current bool      `json:"current"`
	Active  time.Time `json:"active,omitzero"`
	Edited  time.Time `json:"edited"`
	Author  string    `json:"author"`
	// Data is the text, by key.
	Data map[string]string `json:"data"`
}

// shownTexts returns the texts of a set, the newest first.
func shownTexts(s *clusterSet) (out []shownText) {
	for _, t := range slices.Backward(s.texts) {
		out = append(out, shownText{
			Namespace: s.Namespace, Set: s.Name, Number: t.Number, Revision: t.Revision, Digest: t.Digest(), Current: t.Revision == s.Status.Revision,
			Active: t.Active, Edited: t.Edited.UTC(), Author: cmp.Or(t.User, t.Manager), Data: t.Data,
		})
	}
	return out
}

func sortedNames[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// printHistory shows the texts in lines, without their contents.
func printHistory(w io.Writer, list []shownText) error {
	rows := [][]string{{"NAMESPACE", "SET", "NUMBER", "REVISION", "CURRENT", "ACTIVE", "EDITED", "AUTHOR", "KEYS"}}
	for _, t := range list {
		current, active := "", ""
		if t.Current {
			current = "yes"
		}
		if !t.Active.IsZero() {
			active = t.Active.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{t.Namespace, t.Set, strconv.FormatInt(t.Number, 10), t.Revision, current, active, t.Edited.Format(time.RFC3339), t.Author, short(strings.Join(sortedNames(t.Data), " "))})
	}
	return table(w, rows)
}

func rollbackCommand() *cobra.Command {
	var c setClient
	cmd := &cobra.Command{
		Use:   "rollback SET [NUMBER]",
		Short: "Have a set run an earlier text",
		Long: `Sets spec.source.digest of a PolicySet to that of an earlier text: the one before the
current, or the one with a number of edict history. The set runs it at once, also if it
rolls edits out in steps and if a policy is paused. The ConfigMap and the params are not
changed; a set with a digest does not follow its ConfigMap until the digest is removed.`,
		Example: "  edict rollback agent-node-label\n  edict rollback agent-node-label 3",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			number := int64(0)
			if len(args) == 2 {
				var err error
				if number, err = strconv.ParseInt(args[1], 10, 64); err != nil || number < 1 {
					return fmt.Errorf("%q is not the number of a text: edict history lists them", args[1])
				}
			}
			return c.rollback(cmd.Context(), cmd.OutOrStdout(), args[0], number)
		},
	}
	c.register(cmd.Flags(), namespaceOfSets)
	return cmd
}

func (c *setClient) rollback(ctx context.Context, out io.Writer, name string, number int64) error {
	set, err := c.get(ctx, name)
	if err != nil {
		return err
	}
	text, err := set.earlier(number)
	if err != nil {
		return err
	}
	if err := c.patch(ctx, set, func(s *edictv1.PolicySet) { s.Spec.Source.Digest = text.Digest() }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "the set %s runs the text %d (%s, edited %s); kubectl patch policyset %s -n %s --type=json -p '[{\"op\":\"remove\",\"path\":\"/spec/source/digest\"}]' has it follow its ConfigMap again\n",
		set.Name, text.Number, text.Revision, text.Edited.UTC().Format(time.RFC3339), set.Name, set.Namespace)
	return err
}

// earlier returns the text with a number, or for 0 the newest before the current one that was active.
func (s *clusterSet) earlier(number int64) (*history.Text, error) {
	current := int64(math.MaxInt64)
	if t := history.ByRevision(s.texts, s.Status.Revision); t != nil {
		current = t.Number
	}
	for _, t := range slices.Backward(s.texts) {
		if number == t.Number || number == 0 && !t.Active.IsZero() && t.Number < current {
			return t, nil
		}
	}
	if number > 0 {
		return nil, found("the set %s has no text %d: edict history %s lists them", s.Name, number, s.Name)
	}
	return nil, found("the set %s has no earlier text that was active", s.Name)
}
