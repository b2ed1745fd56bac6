package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/brake"
)

// heldRow is a hold, or a pause, as it is listed.
type heldRow struct {
	// Kind is Hold or Pause.
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"`
	Policy string `json:"policy"`
	Rule   string `json:"rule,omitempty"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`
	By     string `json:"by,omitempty"`
	// Since and Until are when it began and ends; a pause ends when it is resumed.
	Since time.Time  `json:"since"`
	Until *time.Time `json:"until,omitempty"`
	// Objects is of how many objects something is kept back, Kept has examples.
	Objects int                `json:"objects"`
	Kept    []brake.KeptRecord `json:"kept"`
}

func holdListCommand() *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is held or paused, and what that keeps back",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.connect(); err != nil {
				return err
			}
			rows, err := f.list(cmd.Context(), time.Now())
			if err != nil {
				return err
			}
			return printHolds(cmd.OutOrStdout(), f.output, rows)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table, yaml or json")
	return cmd
}

// list reads what is held and paused.
func (f *holdFlags) list(ctx context.Context, now time.Time) ([]heldRow, error) {
	records, err := f.records(ctx)
	if err != nil {
		return nil, err
	}
	holds, err := f.holds(ctx)
	if err != nil {
		return nil, err
	}
	rows := []heldRow{}
	for _, h := range holds {
		if h.Ended(now) {
			continue
		}
		r := records[h.Policy]
		rows = append(rows, heldRow{
			Kind: "Hold", Name: h.Name, Policy: h.Policy, Rule: h.Rule, Key: h.Key, Reason: h.Reason, By: h.By, Since: h.Since, Until: &h.Until,
			Objects: r.Holds[h.Name], Kept: keptBy(r.Kept, func(k brake.KeptRecord) bool { return k.Hold == h.Name }),
		})
	}
	for _, policy := range sortedNames(records) {
		r := records[policy]
		for i := range r.Pauses {
			p := &r.Pauses[i]
			rows = append(rows, heldRow{
				Kind: "Pause", Policy: policy, Reason: p.Message, Since: p.Since, Objects: r.Objects[p.Reason],
				Kept: keptBy(r.Kept, func(k brake.KeptRecord) bool { return k.Reason == p.Reason }),
			})
		}
	}
	return rows, nil
}

func keptBy(all []brake.KeptRecord, is func(brake.KeptRecord) bool) []brake.KeptRecord {
	out := []brake.KeptRecord{}
	for _, k := range all {
		if is(k) {
			out = append(out, k)
		}
	}
	return out
}

func (f *holdFlags) records(ctx context.Context) (map[string]brake.Record, error) {
	m, err := f.read(ctx, brake.RecordsName)
	out := map[string]brake.Record{}
	if m == nil {
		return out, err
	}
	for policy, text := range m.Data {
		r, err := brake.ParseRecord(policy, text)
		if err != nil {
			return nil, found("%v", err)
		}
		if r.Resumed == nil {
			out[policy] = r
		}
	}
	return out, nil
}

func (f *holdFlags) holds(ctx context.Context) (out []brake.Hold, err error) {
	m, err := f.read(ctx, brake.HoldsName)
	if m == nil {
		return nil, err
	}
	for _, name := range sortedNames(m.Data) {
		h, err := brake.ParseHold(name, m.Data[name])
		if err != nil {
			return nil, found("%v", err)
		}
		out = append(out, h)
	}
	return out, nil
}

func printHolds(w io.Writer, output string, rows []heldRow) error {
	switch output {
	case "json":
		return writeJSON(w, rows)
	case "yaml":
		return writeYAML(w, rows)
	case "table":
		return printHoldTable(w, rows)
	default:
		return fmt.Errorf("unknown output %q: table, yaml or json", output)
	}
}

// printHoldTable shows the holds in lines, and below them what they keep back.
func printHoldTable(w io.Writer, rows []heldRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is held or paused.")
		return err
	}
	lines := [][]string{{"KIND", "NAME", "POLICY", "RULE", "KEY", "UNTIL", "BY", "OBJECTS", "REASON"}}
	for _, r := range rows {
		until := "resumed"
		if r.Until != nil {
			until = r.Until.UTC().Format(time.RFC3339)
		}
		lines = append(lines, []string{r.Kind, r.Name, r.Policy, r.Rule, r.Key, until, r.By, strconv.Itoa(r.Objects), r.Reason})
	}
	if err := table(w, lines); err != nil {
		return err
	}
	for _, r := range rows {
		for _, k := range r.Kept {
			for _, write := range k.Writes {
				fmt.Fprintf(w, "  %s %s: %s\n", r.Policy, k.Key, write)
			}
		}
	}
	return nil
}
