package configmap

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
)

// ReadRevision returns a revision of a policy, from the ConfigMaps of a namespace or else
// from the history.
func ReadRevision(ctx context.Context, client kubernetes.Interface, namespace, policy, revision string) (*source.Unit, error) {
	catalog, err := Read(ctx, client.CoreV1().ConfigMaps(namespace), nil)
	if err != nil {
		return nil, err
	}
	for _, u := range catalog.Units {
		if u.Name() == policy && u.Revision() == revision {
			return u, nil
		}
	}
	list, err := client.AppsV1().ControllerRevisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision + "=" + policy})
	if err != nil {
		return nil, fmt.Errorf("the revision %s of the policy %s is not the text in a ConfigMap, and the history cannot be read: %w", revision, policy, err)
	}
	kept := history.List(list.Items, func(string, error) {}) // such a one counts as not kept
	for _, e := range kept[policy] {
		if u := e.Unit(); u != nil && e.Revision == revision {
			return u, nil
		}
	}
	return nil, fmt.Errorf("the revision %s of the policy %s is neither in a ConfigMap of the namespace %s nor in the history", revision, policy, namespace)
}
