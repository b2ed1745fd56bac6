package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// defaultNamespace is where the chart is usually installed.
const defaultNamespace = "edict-system"

// brakesManager is the field manager of what people write about brakes.
const brakesManager = "edict-cli"

// brakesClient reads and writes what is kept of the brakes.
type brakesClient struct {
	kubeconfig, namespace string

	client kubernetes.Interface
	config *rest.Config
}

func (b *brakesClient) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&b.kubeconfig, "kubeconfig", "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	flags.StringVar(&b.namespace, "policy-namespace", defaultNamespace, "the namespace of the ConfigMaps with policies")
}

func (b *brakesClient) connect() error {
	if b.client != nil {
		return nil
	}
	client, config, err := clusterClient(b.kubeconfig)
	if err != nil {
		return found("%v", err)
	}
	b.client, b.config = client, config
	return nil
}

// read returns one of the ConfigMaps; nil if there is none.
func (b *brakesClient) read(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	m, err := b.client.CoreV1().ConfigMaps(b.namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, found("reading the ConfigMap %s/%s: %v", b.namespace, name, err)
	default:
		return m, nil
	}
}

// change writes keys of one of the ConfigMaps; nil removes one. It is made if
// there is none. edit is called again when somebody else has written meanwhile.
func (b *brakesClient) change(ctx context.Context, name string, edit func(*corev1.ConfigMap) (map[string]*string, error)) error {
	for {
		m, err := b.read(ctx, name)
		if err != nil {
			return err
		}
		data, err := edit(m)
		if err != nil || len(data) == 0 {
			return err
		}
		err = b.write(ctx, m, name, data)
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (b *brakesClient) write(ctx context.Context, m *corev1.ConfigMap, name string, data map[string]*string) error {
	api := b.client.CoreV1().ConfigMaps(b.namespace)
	if m == nil {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{brake.LabelBrakes: "true"}}, Data: map[string]string{}}
		for key, text := range data {
			if text != nil {
				made.Data[key] = *text
			}
		}
		_, err := api.Create(ctx, made, metav1.CreateOptions{FieldManager: brakesManager})
		return err
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": m.ResourceVersion, "uid": m.UID, "labels": map[string]any{brake.LabelBrakes: "true"}},
		"data":     data,
	})
	if err != nil {
		return err
	}
	_, err = api.Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: brakesManager})
	return err
}

// unit returns the text of a policy of the ConfigMaps.
func (b *brakesClient) unit(ctx context.Context, policy string) (*source.Unit, error) {
	catalog, err := configmap.Read(ctx, b.client.CoreV1().ConfigMaps(b.namespace), compile.Overrides{})
	if err != nil {
		return nil, found("%v", err)
	}
	if u := catalog.Units[policy]; u != nil {
		return u, nil
	}
	return nil, found("there is no policy %q in the ConfigMaps of %s%s", policy, b.namespace, hinted(nameHint(policy, sortedNames(catalog.Units))))
}

// person returns who runs the command: whom the API server knows, or else the
// user of this machine.
func (b *brakesClient) person(ctx context.Context) string {
	review, err := b.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err == nil && review.Status.UserInfo.Username != "" {
		return review.Status.UserInfo.Username
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

func resumeCommand() *cobra.Command {
	var b brakesClient
	cmd := &cobra.Command{
		Use:   "resume POLICY",
		Short: "Resume a policy that the brakes have paused",
		Long: `Lets a policy write again that was paused because it wrote or removed more than its
limit. What it may write within a window is counted from the beginning. edict hold
list shows what is paused and what is kept back; edict rollback takes the last edit
of a policy back, which ends a pause as well.`,
		Example: "  edict resume agent-node-label",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := b.connect(); err != nil {
				return err
			}
			n, err := b.resume(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, and the policy goes on\n", args[0], count(n, "pause is ended", "pauses are ended"))
			return nil
		},
	}
	b.register(cmd)
	return cmd
}

// notPaused is the error about a policy that has no pause: perhaps there is none of its
// name.
func (b *brakesClient) notPaused(ctx context.Context, policy string) error {
	if _, err := b.unit(ctx, policy); err != nil {
		return err
	}
	return found("%s: it is not paused", policy)
}

// resume asks the controller to let a policy go on, and returns how many pauses
// it had.
func (b *brakesClient) resume(ctx context.Context, policy string) (pauses int, err error) {
	by := b.person(ctx)
	err = b.change(ctx, brake.RecordsName, func(m *corev1.ConfigMap) (map[string]*string, error) {
		if m == nil || m.Data[policy] == "" {
			return nil, b.notPaused(ctx, policy)
		}
		r, err := brake.ParseRecord(policy, m.Data[policy])
		if err != nil {
			return nil, found("%v", err)
		}
		if len(r.Pauses) == 0 {
			return nil, b.notPaused(ctx, policy)
		}
		pauses, r.Resumed = len(r.Pauses), &brake.Resumption{By: by, At: time.Now().UTC()}
		text := r.Text()
		return map[string]*string{policy: &text}, nil
	})
	return pauses, asFoundOrNil(err)
}

func asFoundOrNil(err error) error {
	if err == nil {
		return nil
	}
	return asFound(err)
}
