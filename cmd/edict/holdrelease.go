package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

func holdReleaseCommand() *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:     "release (NAME... | --policy POLICY [--rule RULE] [--key KEY] | --all)",
		Short:   "End holds before their time",
		Example: "  edict hold release agent-node-label-x7k2p\n  edict hold release --policy agent-node-label",
		RunE: func(cmd *cobra.Command, args []string) error {
			ways := 0
			for _, given := range []bool{len(args) > 0, f.policy != "", f.all} {
				if given {
					ways++
				}
			}
			if ways != 1 {
				return errors.New("say what to release: names, --policy, or --all")
			}
			if err := f.connect(); err != nil {
				return err
			}
			released, err := f.release(cmd.Context(), args)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "released: %s\n", strings.Join(released, ", "))
			return nil
		},
	}
	f.register(cmd)
	f.selecting(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all holds")
	return cmd
}

// release ends holds, and returns their names.
func (f *holdFlags) release(ctx context.Context, names []string) (released []string, err error) {
	err = f.change(ctx, brake.HoldsName, func(m *corev1.ConfigMap) (map[string]*string, error) {
		var data map[string]string
		if m != nil {
			data = m.Data
		}
		known := sortedNames(data)
		for _, name := range names {
			if !slices.Contains(known, name) {
				return nil, found("nothing is held as %q%s", name, hinted(document.DidYouMean(name, known)))
			}
		}
		released = nil
		out := map[string]*string{}
		for _, name := range known {
			if f.means(name, data[name], names) {
				out[name], released = nil, append(released, name)
			}
		}
		if len(out) == 0 {
			return nil, found("nothing of that is held")
		}
		return out, nil
	})
	if err != nil {
		return nil, asFound(err)
	}
	return released, nil
}

// means reports whether a hold is one to release.
func (f *holdFlags) means(name, text string, names []string) bool {
	if f.all || slices.Contains(names, name) {
		return true
	}
	h, err := brake.ParseHold(name, text)
	return err == nil && f.policy != "" && h.Policy == f.policy && (f.rule == "" || h.Rule == f.rule) && (f.key == "" || h.Key == f.key)
}

// exists reports as an error that there is no such policy, or rule, or that the policy
// decides about no object of that key. The note is what makes it doubtful that there is an
// object.
func (f *holdFlags) exists(ctx context.Context, h *brake.Hold) (note string, err error) {
	u, err := f.unit(ctx, h.Policy)
	if err != nil {
		return "", err
	}
	if err := hasRule(u, h); err != nil || h.Key == "" {
		return "", err
	}
	if f.objects == nil {
		if f.objects, err = newObjects(f.config); err != nil {
			return "", found("%v", err)
		}
	}
	return f.objects.matches(ctx, h, u)
}

// hasRule reports as an error that a policy has not the rule of a hold.
func hasRule(u *source.Unit, h *brake.Hold) error {
	if h.Rule == "" {
		return nil
	}
	var rules []string
	for i := range u.Document.Spec.Rules {
		rules = append(rules, u.Document.Spec.Rules[i].Name.Value)
	}
	if !slices.Contains(rules, h.Rule) {
		return found("the policy %s has no rule %q%s", h.Policy, h.Rule, hinted(document.DidYouMean(h.Rule, rules)))
	}
	return nil
}
