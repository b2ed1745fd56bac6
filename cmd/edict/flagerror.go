package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/document"
)

// flagError adds to the error about an unknown flag which one may be meant, or where the
// flags are listed.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	if hint := document.DidYouMean("--"+unknown.GetSpecifiedName(), known); hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}
