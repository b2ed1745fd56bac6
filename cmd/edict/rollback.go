package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
)

func rollbackCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "rollback POLICY [NUMBER] [--policy-namespace NAMESPACE]",
		Short: "Write an earlier text of a policy back into its ConfigMap",
		Long: `Writes the text of an earlier revision of a policy, with the Rego beside it, back
into the key of its ConfigMap. Other policies in the key stay as they are. Without
a number it is the revision before the present one: the newest that was in force
and has another text. edict history lists the numbers.

Values for params are in other ConfigMaps and are not changed. A ConfigMap that
changes meanwhile is left alone.

A text that was in force comes into force at once, also if the ConfigMap has the
annotation edict.dev/rollout and if the policy is paused.`,
		Example: "  edict rollback --policy-namespace edict-system agent-node-label\n  edict rollback --policy-namespace edict-system agent-node-label 3",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			number := int64(0)
			if len(args) == 2 {
				var err error
				if number, err = strconv.ParseInt(args[1], 10, 64); err != nil || number < 1 {
					return fmt.Errorf("%q is not the number of a revision: edict history lists them", args[1])
				}
			}
			return f.rollback(cmd.Context(), cmd.OutOrStdout(), args[0], number)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *historyFlags) rollback(ctx context.Context, out io.Writer, policy string, number int64) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	entries, err := f.read(ctx, client)
	if err != nil {
		return err
	}
	list := entries[policy]
	if len(list) == 0 {
		return found("no revision of a policy %q is kept in the namespace %s%s", policy, f.namespace, hinted(nameHint(policy, sortedNames(entries))))
	}
	newest := list[len(list)-1]
	m, err := client.CoreV1().ConfigMaps(f.namespace).Get(ctx, newest.ConfigMap(), metav1.GetOptions{})
	if err != nil {
		return found("reading the ConfigMap of %s: %v", policy, err)
	}
	e, err := chosen(list, number, m.Data)
	if err != nil {
		return found("%s: %v", policy, err)
	}
	if e.File != newest.File {
		return found("%s: the revision %d was in %s, and the policy is in %s now: move it back first", policy, e.Number, e.File, newest.File)
	}
	changes, err := e.Restore(m.Data)
	if errors.Is(err, history.ErrSame) {
		return found("%s: nothing to write, the ConfigMap %s/%s has the text of the revision %d already%s", policy, m.Namespace, m.Name, e.Number, valuesNote(e, newest))
	}
	if err != nil {
		return found("%s: the revision %d: %v", policy, e.Number, err)
	}
	if err := restore(ctx, client, m, changes); err != nil {
		return found("%s: %v", policy, err)
	}
	return printRollback(out, &written{configMap: m, entry: e, newest: newest, changes: changes, wasInForce: history.WasInForce(list, e)})
}

// chosen returns the revision with a number, or for 0 the one before the present
// one.
func chosen(list []*history.Entry, number int64, data map[string]string) (*history.Entry, error) {
	if number == 0 {
		return history.Before(list, data)
	}
	at := slices.IndexFunc(list, func(e *history.Entry) bool { return e.Number == number })
	if at < 0 {
		return nil, fmt.Errorf("there is no revision %d; those from %d to %d are kept", number, list[0].Number, list[len(list)-1].Number)
	}
	return list[at], nil
}

// restore writes changes of a ConfigMap as it was read.
func restore(ctx context.Context, client kubernetes.Interface, m *corev1.ConfigMap, changes map[string]*string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": m.ResourceVersion, "uid": m.UID}, "data": changes})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: history.RollbackManager})
	if apierrors.IsConflict(err) {
		return fmt.Errorf("the ConfigMap %s/%s has changed meanwhile, and nothing was written: look at it and try again", m.Namespace, m.Name)
	}
	return err
}

// written is what a rollback has written.
type written struct {
	configMap     *corev1.ConfigMap
	entry, newest *history.Entry
	changes       map[string]*string
	// wasInForce reports whether the text was in force.
	wasInForce bool
}

func printRollback(out io.Writer, w *written) error {
	e, m, by := w.entry, w.configMap, ""
	if e.Author != "" {
		by = " by " + e.Author
	}
	text := fmt.Sprintf("%s: the revision %d (%s, edited %s%s) is written into the ConfigMap %s/%s\n", e.Policy, e.Number, e.Revision, e.Edited.UTC().Format(time.RFC3339), by, m.Namespace, m.Name)
	for _, key := range slices.Sorted(maps.Keys(w.changes)) {
		verb := "written"
		if w.changes[key] == nil {
			verb = "removed"
		}
		text += fmt.Sprintf("  %s: %s\n", key, verb)
	}
	if note := valuesNote(e, w.newest); note != "" {
		text += strings.TrimPrefix(note, "; ") + "\n"
	}
	_, err := io.WriteString(out, text+w.stepsNote())
	return err
}

// stepsNote says how the revision comes into force, if new ones do in steps.
func (w *written) stepsNote() string {
	switch {
	case w.configMap.Annotations[v1alpha1.AnnotationRollout] == "":
		return ""
	case w.wasInForce:
		return "it was in force before, so it comes into force at once, without the steps of the annotation " + v1alpha1.AnnotationRollout + "\n"
	default:
		return "it was never in force for all objects, so it comes into force in the steps of the annotation " + v1alpha1.AnnotationRollout + "; without the annotation it does at once\n"
	}
}

// valuesNote says that the values for params were others.
func valuesNote(e, newest *history.Entry) string {
	was, now := strings.Join(e.Values(), " "), strings.Join(newest.Values(), " ")
	if was == now {
		return ""
	}
	return "; the values given for params were " + cmp.Or(was, "none") + ", and are not changed: they are in the ConfigMaps labelled edict.dev/params"
}
