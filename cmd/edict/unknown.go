package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
)

// otherWords are the commands of other programs, with the answer for each.
var otherWords = []struct{ words, answer string }{
	{"lint validate vet compile build audit", "edict check PATH checks policies"},
	{"diff preview dry-run render template", "edict plan PATH says what policies would change in a cluster, edict simulate in manifests"},
	{"describe why why-not show trace debug inspect", "edict explain POLICY [NAMESPACE/]NAME says why a policy decides as it does about an object"},
	{"apply create install deploy upgrade replace push publish", "a policy is a document in a ConfigMap that a PolicySet runs: edict manifests PATH | kubectl apply -f - applies both; kubectl wait --for=condition=Ready waits, edict plan says what would change"},
	{"get list ls status policies ps", "kubectl get policysets -A lists the sets of policies of a cluster; edict history lists their texts, edict hold list what is held and paused"},
	{"delete remove uninstall destroy rm", "delete the PolicySet with kubectl; edict release takes the finalizers of policies off the objects first"},
	{"logs log events", "kubectl logs shows those of the controller; edict explain POLICY [NAMESPACE/]NAME says what it decided about an object, and why"},
	{"new generate scaffold", "edict init NAME begins a policy from a recipe"},
	{"pause suspend stop disable rollout undo revert", "edict hold SET holds its policies, edict resume SET ends a pause, edict rollback SET takes the last edit back"},
}

// unknownCommand returns the error for a word that is no command, with the one that may be meant.
func unknownCommand(root *cobra.Command, word string) error {
	err := fmt.Errorf("unknown command %q", word)
	for _, other := range otherWords {
		if slices.Contains(strings.Fields(other.words), strings.ToLower(word)) {
			return fmt.Errorf("%w: %s", err, other.answer)
		}
	}
	return fmt.Errorf("%w; %s", err, cmp.Or(document.DidYouMean(word, subcommands(root)), "the commands are "+strings.Join(subcommands(root), ", ")))
}

func subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// unexpectedArgument says of an argument of a command that takes none where it belongs.
func unexpectedArgument(cmd *cobra.Command, arg string) error {
	hint := document.DidYouMean(arg, subcommands(cmd))
	return fmt.Errorf("%s takes no argument %q%s: %s", cmd.CommandPath(), arg, hinted(hint), cmd.UseLine())
}
