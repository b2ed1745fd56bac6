package podrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mount writes the files of the container's volumes.
func (p *pod) mount(ctx context.Context, container corev1.Container) (mounts, error) {
	out := mounts{}
	for _, at := range container.VolumeMounts {
		for _, volume := range p.object.Spec.Volumes {
			if volume.Name != at.Name || volume.Projected != nil { // the token: see kubeconfig
				continue
			}
			files, err := p.files(ctx, volume)
			if err != nil {
				return nil, fmt.Errorf("the volume %s: %w", volume.Name, err)
			}
			folder := filepath.Join(p.folder, "volumes", volume.Name)
			for name, text := range files {
				if err := p.write(filepath.Join(folder, name), text); err != nil {
					return nil, err
				}
			}
			out[at.MountPath] = folder
		}
	}
	return out, os.MkdirAll(p.folder, 0o755)
}

// files reads what a volume holds. What does not exist yet is an error, and the
// container waits for it.
func (p *pod) files(ctx context.Context, volume corev1.Volume) (map[string][]byte, error) {
	all := map[string][]byte{}
	var items []corev1.KeyToPath
	switch {
	case volume.ConfigMap != nil:
		found, err := p.runner.client.CoreV1().ConfigMaps(p.object.Namespace).Get(ctx, volume.ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for key, text := range found.Data {
			all[key] = []byte(text)
		}
		items = volume.ConfigMap.Items
	case volume.Secret != nil:
		found, err := p.runner.client.CoreV1().Secrets(p.object.Namespace).Get(ctx, volume.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		all, items = found.Data, volume.Secret.Items
	case volume.EmptyDir != nil:
	default:
		return nil, errors.New("podrunner does not know volumes of this kind")
	}
	return choose(all, items)
}

// choose returns the files that items name, or all without any.
func choose(all map[string][]byte, items []corev1.KeyToPath) (map[string][]byte, error) {
	if len(items) == 0 {
		return all, nil
	}
	out := map[string][]byte{}
	for _, item := range items {
		text, found := all[item.Key]
		if !found {
			return nil, fmt.Errorf("there is no key %s", item.Key)
		}
		out[item.Path] = text
	}
	return out, nil
}

// write writes a file that the Pod's user may read and nobody may change.
func (p *pod) write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil { // that of the container before
		return err
	}
	if err := os.WriteFile(path, text, 0o400); err != nil {
		return err
	}
	if user := p.user(); user != 0 {
		return os.Chown(path, user, user)
	}
	return nil
}

// user is that of the Pod, if this process may be somebody else; else 0.
func (p *pod) user() int {
	if context := p.object.Spec.SecurityContext; os.Geteuid() == 0 && context != nil && context.RunAsUser != nil {
		return int(*context.RunAsUser)
	}
	return 0
}
