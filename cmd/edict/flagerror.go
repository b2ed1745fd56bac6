package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/document"
)

// require marks flags of a command as required, and returns the command. The flags must be
// registered.
func require(cmd *cobra.Command, names ...string) *cobra.Command {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// flagError adds to the error about a flag what the flag takes, or which one is meant, or
// where the flags are listed.
func flagError(cmd *cobra.Command, err error) error {
	if alone, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("%w (%s)", err, alone.GetFlag().Usage)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	if instead := otherFlag(cmd, name); instead != "" {
		return fmt.Errorf("%w; %s", err, instead)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	if hint := document.DidYouMean("--"+name, known); hint != "" && len(name) > 1 {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// otherFlag says what does that which a flag of kubectl or of a like program does; "" is not
// known.
func otherFlag(cmd *cobra.Command, name string) string {
	switch name {
	case "file", "policy", "p":
		if cmd.Flags().Lookup("filename") != nil {
			return "policies are named by -f PATH"
		}
	case "n", "namespace", "A", "all-namespaces":
		if cmd.Flags().Lookup("namespace") != nil {
			return "without -n sets are looked for in all namespaces"
		}
		return cmd.CommandPath() + " reads files, and takes the objects of all namespaces in them"
	case "dry-run", "server-side":
		return "edict plan says what policies would change in a cluster, edict simulate in manifests, and neither writes"
	}
	return ""
}
