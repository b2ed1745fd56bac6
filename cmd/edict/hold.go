package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/edict-dev/edict/engine/brake"
)

// holdFlags say what is held.
type holdFlags struct {
	brakesClient
	policy, rule, key, reason, output string
	lasts                             time.Duration
	all                               bool

	objects *objects
}

func holdCommand() *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:   "hold --policy POLICY [--rule RULE] [--key [NAMESPACE/]NAME] --reason TEXT --for DURATION",
		Short: "Hold back the writes of a policy for a while",
		Long: `Holds a policy, a rule of it, or what either does about one object. What is held
is decided and shown (edict hold list), and not written, until the time is over or
the hold is released. A hold is kept in the ConfigMap ` + brake.HoldsName + `, with who made it
and why. Without --rule it holds all rules, without --key all objects.

A key has the namespace of the object, and no namespace if the policy decides about a
kind without namespaces; another one is refused. That there is no such object now is
said, and it is held when it comes.`,
		Example: "  edict hold --policy replica-scheduling --reason 'the storage network is being changed' --for 2h\n" +
			"  edict hold --policy agent-node-label --rule 'stop the agent' --key node-7 --reason 'disk is being replaced' --for 30m",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := f.hold()
			if err != nil {
				return err
			}
			if err := f.connect(); err != nil {
				return err
			}
			return f.create(cmd.Context(), cmd.OutOrStdout(), h)
		},
	}
	f.register(cmd)
	f.selecting(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.reason, "reason", "", "why, for those who find it held")
	flags.DurationVar(&f.lasts, "for", 0, "how long, such as 2h")
	cmd.AddCommand(holdListCommand(), holdReleaseCommand())
	return require(cmd, "policy", "reason", "for")
}

func (f *holdFlags) selecting(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.policy, "policy", "", "the policy")
	flags.StringVar(&f.rule, "rule", "", "one of its rules")
	flags.StringVar(&f.key, "key", "", "one of the objects that it decides about, as NAMESPACE/NAME or NAME")
}

// maxHold is the longest that anything is held: what is meant for longer is an
// edit of the policy.
const maxHold = 30 * 24 * time.Hour

// hold is what the flags say.
func (f *holdFlags) hold() (*brake.Hold, error) {
	switch {
	case f.lasts <= 0 || f.lasts > maxHold:
		return nil, fmt.Errorf("--for must be a duration of at most %s, such as 2h", maxHold)
	case f.reason == "":
		return nil, errors.New("--reason says why, and must not be empty")
	case f.policy == "":
		return nil, errors.New("--policy must not be empty")
	}
	now := time.Now().UTC().Truncate(time.Second)
	return &brake.Hold{
		Name: f.policy + "-" + rand.String(5), Policy: f.policy, Rule: f.rule, Key: f.key,
		Reason: f.reason, Since: now, Until: now.Add(f.lasts),
	}, nil
}

// create writes a hold down. That nothing is called so, or can be, is a finding: a hold
// with a typo would hold nothing.
func (f *holdFlags) create(ctx context.Context, out io.Writer, h *brake.Hold) error {
	note, err := f.exists(ctx, h)
	if err != nil {
		return err
	}
	h.By = f.person(ctx)
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	err = f.change(ctx, brake.HoldsName, func(*corev1.ConfigMap) (map[string]*string, error) {
		written := string(text)
		return map[string]*string{h.Name: &written}, nil
	})
	if err != nil {
		return asFound(err)
	}
	if note != "" {
		fmt.Fprintln(out, note)
	}
	fmt.Fprintf(out, "%s: %s is held until %s; edict hold list shows what that keeps back, edict hold release %s ends it\n", h.Name, h, h.Until.Format(time.RFC3339), h.Name)
	return nil
}

func asFound(err error) error {
	if _, ok := errors.AsType[findings](err); ok {
		return err
	}
	return found("%v", err)
}
