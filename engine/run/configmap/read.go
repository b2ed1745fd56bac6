package configmap

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/source"
)

// Read reads the ConfigMaps of policies and params of a namespace, once. Typed values
// take precedence over theirs.
func Read(ctx context.Context, api corev1client.ConfigMapInterface, typed compile.Overrides) (*source.Catalog, error) {
	var contents []*source.Contents
	var values []*source.Values
	for label, take := range map[string]func(*source.ConfigMap){
		v1alpha1.LabelPolicy: func(m *source.ConfigMap) { contents = append(contents, m.Read()) },
		v1alpha1.LabelParams: func(m *source.ConfigMap) { values = append(values, m.ReadParams()) },
	} {
		list, err := api.List(ctx, metav1.ListOptions{LabelSelector: label + "=true"})
		if err != nil {
			return nil, fmt.Errorf("listing the ConfigMaps labelled %s: %w", label, err)
		}
		for i := range list.Items {
			take(Of(&list.Items[i]))
		}
	}
	return source.NewCatalog(contents, values, typed), nil
}
