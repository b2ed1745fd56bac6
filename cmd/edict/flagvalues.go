package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/plan"
)

// choice is the value of a flag that is one of several words.
type choice struct {
	to    *string
	known []string
}

// outputFlag adds -o, with the formats of which the first is the default.
func outputFlag(cmd *cobra.Command, to *string, known ...string) {
	*to = known[0]
	c := &choice{to, known}
	cmd.Flags().VarP(c, "output", "o", c.words())
}

func (c *choice) words() string {
	last := len(c.known) - 1
	return strings.Join(c.known[:last], ", ") + " or " + c.known[last]
}

// String implements pflag.Value.
func (c *choice) String() string { return *c.to }

// Type implements pflag.Value.
func (c *choice) Type() string { return "string" }

// Set implements pflag.Value.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.known, text) {
		return errors.New("it is " + c.words())
	}
	*c.to = text
	return nil
}

// until is the value of --until, nil if it is not given.
type until struct{ to **time.Duration }

// String implements pflag.Value.
func (u until) String() string { return "" }

// Type implements pflag.Value.
func (u until) Type() string { return "duration" }

// Set implements pflag.Value.
func (u until) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("it is a duration such as 10m")
	}
	*u.to = &d
	return nil
}

// brakeFlags are the limits of an installation.
type brakeFlags struct{ brake.Settings }

func (f *brakeFlags) register(flags *pflag.FlagSet) {
	f.Default = brake.DefaultSettings().Default
	flags.Var(limit{&f.Default.Changes}, "default-change-limit", "how often a policy without limits.changes may write, as a number or a percentage of its objects within a window; none does not bound it")
	flags.Var(limit{&f.Default.Removals}, "default-removal-limit", "how often a policy without limits.removals may remove something")
	flags.Var(limit{&f.Max.Changes}, "max-change-limit", "how often a policy may write whatever it says itself")
	flags.Var(limit{&f.Max.Removals}, "max-removal-limit", "how often a policy may remove something whatever it says itself")
}

// limit is the value of a flag for a limit.
type limit struct{ to **plan.Limit }

// String implements pflag.Value.
func (l limit) String() string {
	if *l.to == nil {
		return "none"
	}
	return (*l.to).String()
}

// Type implements pflag.Value.
func (l limit) Type() string { return "string" }

// Set implements pflag.Value.
func (l limit) Set(text string) (err error) {
	*l.to, err = brake.ParseLimit(text)
	return err
}
