package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/load"
)

// completion lets shells complete what the commands take: names of policies from the
// files of --policies, and the outputs.
func completion(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		flags := cmd.Flags()
		if flags.Lookup("policies") == nil {
			continue
		}
		if flags.Lookup("policy") != nil {
			_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
		}
		if slices.Contains([]string{"explain", "capture"}, cmd.Name()) {
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return completePolicies(cmd, args, toComplete)
			}
		}
	}
}

// completePolicies returns the names of the policies in the files of --policies. They
// are not compiled: a name is known without.
func completePolicies(cmd *cobra.Command, _ []string, _ string) (out []string, _ cobra.ShellCompDirective) {
	paths, err := cmd.Flags().GetStringArray("policies")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if file, err := cmd.Flags().GetStringArray("file"); err == nil {
		paths = append(paths, file...)
	}
	for _, path := range paths {
		files, err := load.Files(path)
		if err != nil {
			continue // the command itself says so
		}
		for _, f := range files {
			found, _ := load.Documents(f.Path, f.Text)
			for _, p := range found.Policies {
				out = append(out, p.Metadata.Name.Value)
				if p.Of != "" {
					out = append(out, p.Of)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}
