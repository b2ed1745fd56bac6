package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/simulate"
)

// brakeFlags are the limits of an installation.
type brakeFlags struct {
	changes, removals, maxChanges, maxRemovals string
}

func (f *brakeFlags) register(flags *pflag.FlagSet) {
	defaults := brake.DefaultSettings().Default
	flags.StringVar(&f.changes, "default-change-limit", defaults.Changes.String(), "how often a policy without limits.changes may write, as a number or a percentage of its objects within a window; none does not bound it")
	flags.StringVar(&f.removals, "default-removal-limit", defaults.Removals.String(), "how often a policy without limits.removals may remove something")
	flags.StringVar(&f.maxChanges, "max-change-limit", "none", "how often a policy may write whatever it says itself")
	flags.StringVar(&f.maxRemovals, "max-removal-limit", "none", "how often a policy may remove something whatever it says itself")
}

// printPaused prints a line for each policy that would be paused.
func printPaused(w io.Writer, list []simulate.Paused) {
	for _, p := range list {
		fmt.Fprintln(w, p)
	}
}

func (f *brakeFlags) settings() (*brake.Settings, error) {
	var out brake.Settings
	for _, one := range []struct {
		flag, text string
		limit      **plan.Limit
	}{
		{"default-change-limit", f.changes, &out.Default.Changes},
		{"default-removal-limit", f.removals, &out.Default.Removals},
		{"max-change-limit", f.maxChanges, &out.Max.Changes},
		{"max-removal-limit", f.maxRemovals, &out.Max.Removals},
	} {
		limit, err := brake.ParseLimit(one.text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", one.flag, err)
		}
		*one.limit = limit
	}
	return &out, nil
}
