package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/policies"
)

// waitFlags are those of edict wait.
type waitFlags struct {
	origin  origin
	status  string
	timeout time.Duration
	names   []string
}

func waitCommand() *cobra.Command {
	var f waitFlags
	cmd := &cobra.Command{
		Use:   "wait [POLICY...] [--policy-namespace NAMESPACE]",
		Short: "Wait until the controller has taken over the policies as they are in their ConfigMaps",
		Long: `Waits until the controller reports a status for the present contents of the
ConfigMaps that have the policies that are named, or for all, and until it has read
the ConfigMaps of params. A pipeline calls it after kubectl apply.

Only what a ConfigMap contains is waited for. The controller does not say whether it
has seen a change of an annotation, such as the mode, or that a ConfigMap of params
was deleted, nor whether it has the present allowances: after a change of the
installation the status may be that of the controller before it.

It ends at once, with exit code 1, when the controller refuses a policy or values for
it, or its rollout stops, and says why. A policy that is named and disabled is not
active, whatever the others of its ConfigMap are. While a revision comes into force in steps, the status
is RollingOut.`,
		Example: "  kubectl apply -f policy.yaml && edict wait agent-node-label --policy-namespace edict-system --for active --timeout 60s",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.names = args
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.origin.namespace, "policy-namespace", defaultNamespace, "the namespace of the ConfigMaps with policies")
	flags.StringVar(&f.origin.kubeconfig, "kubeconfig", "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	flags.StringVar(&f.status, "for", "active", "the status to wait for, such as active, disabled or waiting")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "how long to wait")
	return cmd
}

// waitInterval is how often the ConfigMaps are looked at.
const waitInterval = 250 * time.Millisecond

func (f *waitFlags) run(ctx context.Context, out io.Writer) error {
	if !slices.ContainsFunc(policies.Statuses, func(one string) bool { return strings.EqualFold(one, f.status) }) {
		return fmt.Errorf("unknown status %q for --for: one of %s", f.status, strings.Join(policies.Statuses, ", "))
	}
	api, err := f.origin.configMaps()
	if err != nil {
		return found("%v", err)
	}
	var last []string
	err = wait.PollUntilContextTimeout(ctx, waitInterval, f.timeout, true, func(context.Context) (bool, error) {
		var err error // the timeout ends the waiting, not a request
		last, err = f.missing(ctx, api)
		return len(last) == 0, err
	})
	switch {
	case err == nil:
		fmt.Fprintf(out, "%s: %s\n", f.what(), strings.ToLower(f.status))
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return found("not %s after %v:\n%s", strings.ToLower(f.status), f.timeout, strings.Join(last, "\n"))
	default:
		return found("%v", err)
	}
}

func (f *waitFlags) what() string {
	if len(f.names) == 0 {
		return "all policies of the namespace " + f.origin.namespace
	}
	return strings.Join(f.names, ", ")
}

// missing says of each ConfigMap that has not the status, what it has. The error is
// one that waiting does not mend.
func (f *waitFlags) missing(ctx context.Context, api corev1client.ConfigMapInterface) (out []string, err error) {
	// The status of the policies is written before that of the params, so that it is read
	// after it.
	params, err := api.List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelParams + "=true"})
	if err != nil {
		return nil, err
	}
	list, err := api.List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPolicy + "=true"})
	if err != nil {
		return nil, err
	}
	left, waited := slices.Clone(f.names), slices.Clone(f.names)
	for i := range list.Items {
		m := &list.Items[i]
		policies := policiesIn(m)
		if len(f.names) > 0 && !slices.ContainsFunc(policies, func(name string) bool { return slices.Contains(f.names, name) }) {
			continue
		}
		waited = append(waited, policies...)
		left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(policies, name) })
		state, err := f.state(m)
		if err != nil {
			return nil, err
		}
		if state != "" {
			out = append(out, missingIn(m, state))
		}
	}
	unread, err := f.unreadParams(params.Items, waited)
	if err != nil {
		return nil, err
	}
	out = append(out, unread...)
	for _, name := range left {
		out = append(out, fmt.Sprintf("no ConfigMap labelled %s=true of the namespace %s has a policy %s", v1alpha1.LabelPolicy, f.origin.namespace, name))
	}
	if len(list.Items) == 0 && len(out) == 0 {
		out = append(out, fmt.Sprintf("no ConfigMap of the namespace %s is labelled %s=true", f.origin.namespace, v1alpha1.LabelPolicy))
	}
	return out, nil
}

func missingIn(m *corev1.ConfigMap, state string) string {
	return fmt.Sprintf("ConfigMap %s/%s: %s", m.Namespace, m.Name, state)
}

// notRead is what is missing of a ConfigMap that has changed since the controller read it.
const notRead = "the controller has not read its present contents"

// unreadParams says which ConfigMaps of params the controller has not read as they are:
// what one no longer has may have been for any policy. One that is refused and has values
// for some policies is an error, unless that is waited for.
func (f *waitFlags) unreadParams(all []corev1.ConfigMap, policies []string) (out []string, err error) {
	for i := range all {
		m := &all[i]
		switch {
		case !configmap.Judged(m):
			out = append(out, missingIn(m, notRead))
		case m.Annotations[v1alpha1.AnnotationStatus] != "Refused" || strings.EqualFold(f.status, "refused"):
		case len(f.names) == 0 || slices.ContainsFunc(policies, configmap.Of(m).ReadParams().For):
			return nil, refusedError(m)
		}
	}
	return out, nil
}

func refusedError(m *corev1.ConfigMap) error {
	return fmt.Errorf("ConfigMap %s/%s is refused: %s", m.Namespace, m.Name, m.Annotations[v1alpha1.AnnotationError])
}

// state says what a ConfigMap has in place of the status; "" is the status.
func (f *waitFlags) state(m *corev1.ConfigMap) (string, error) {
	status := m.Annotations[v1alpha1.AnnotationStatus]
	switch {
	case !configmap.Judged(m):
		return notRead, nil
	case strings.EqualFold(f.status, "disabled") && f.allOff(m):
		return "", nil
	case strings.EqualFold(status, f.status):
		return f.off(m), nil
	case strings.EqualFold(status, "refused"):
		return "", refusedError(m)
	case strings.EqualFold(status, "rolloutstopped"):
		return "", fmt.Errorf("the rollout of ConfigMap %s/%s has stopped: %s", m.Namespace, m.Name, m.Annotations[v1alpha1.AnnotationError])
	default:
		return strings.TrimSpace("its status is "+status+" "+m.Annotations[v1alpha1.AnnotationError]) + rolloutLines(m), nil
	}
}

// rolloutLines says how far the rollouts of a ConfigMap have come, each on a line.
func rolloutLines(m *corev1.ConfigMap) (out string) {
	statuses, err := rollout.ParseStatus(m.Annotations[v1alpha1.AnnotationRolloutStatus])
	if err != nil {
		return "\n  " + err.Error()
	}
	for i := range statuses {
		out += "\n  " + statuses[i].String()
	}
	return out
}

// policiesIn returns the names of the policies in a ConfigMap, and of their documents.
func policiesIn(m *corev1.ConfigMap) (out []string) {
	for _, u := range configmap.Of(m).Read().Units {
		out = append(out, u.Name())
		if of := u.Document.Of; of != "" {
			out = append(out, of)
		}
	}
	// What runs is known also while the text cannot be read.
	for name := range v1alpha1.Running(m.Annotations) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
