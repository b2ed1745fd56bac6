package configmap

import (
	"context"
	"fmt"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// ReadAllowances returns the allowances of an installation, as the ConfigMaps with
// v1alpha1.LabelAllowances show them. Known is false where there is none: then nothing is
// known of them. They are for commands that tell what the controller would do. It does not
// read them itself: whoever may write ConfigMaps could otherwise extend them.
func ReadAllowances(ctx context.Context, api corev1client.ConfigMapInterface) (allowed []v1alpha1.Allowance, known bool, err error) {
	list, err := labelled(ctx, api, v1alpha1.LabelAllowances)
	if err != nil {
		return nil, false, err
	}
	for _, m := range list {
		found, problems := Of(m).ReadAllowances()
		if err := document.Join(problems); err != nil {
			return nil, false, fmt.Errorf("the allowances in the ConfigMap %s/%s cannot be read: %w", m.Namespace, m.Name, err)
		}
		allowed = append(allowed, found...)
	}
	return allowed, len(list) > 0, nil
}

// ReadInstallations returns the names of the installations whose allowances are shown, as
// far as they have any.
func ReadInstallations(ctx context.Context, api corev1client.ConfigMapInterface) (out []string, err error) {
	list, err := labelled(ctx, api, v1alpha1.LabelAllowances)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if name := m.Annotations[v1alpha1.AnnotationInstallation]; name != "" {
			out = append(out, name)
		}
	}
	return out, nil
}
