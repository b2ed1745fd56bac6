package configmap

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/source"
)

// Read reads the ConfigMaps of policies and params of a namespace, once. Typed values
// take precedence over theirs.
func Read(ctx context.Context, api corev1client.ConfigMapInterface, typed compile.Overrides) (*source.Catalog, error) {
	policies, params, err := lists(ctx, api)
	if err != nil {
		return nil, err
	}
	return newCatalog(policies, params, &Cache{}, typed), nil
}

// ReadAll is Read, with the ConfigMaps and the annotations that they have.
func ReadAll(ctx context.Context, api corev1client.ConfigMapInterface) (policies, params []*corev1.ConfigMap, in *source.Catalog, err error) {
	if policies, params, err = lists(ctx, api); err != nil {
		return nil, nil, nil, err
	}
	return policies, params, newCatalog(policies, params, &Cache{}, nil), nil
}

// lists returns the ConfigMaps of policies and those of params. The controller writes the
// status of the policies before that of the params, so it is read after it.
func lists(ctx context.Context, api corev1client.ConfigMapInterface) (policies, params []*corev1.ConfigMap, err error) {
	if params, err = labelled(ctx, api, v1alpha1.LabelParams); err != nil {
		return nil, nil, err
	}
	policies, err = labelled(ctx, api, v1alpha1.LabelPolicy)
	return policies, params, err
}

func labelled(ctx context.Context, api corev1client.ConfigMapInterface, label string) (out []*corev1.ConfigMap, err error) {
	list, err := api.List(ctx, metav1.ListOptions{LabelSelector: label + "=true"})
	if err != nil {
		return nil, fmt.Errorf("listing the ConfigMaps labelled %s: %w", label, err)
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}
