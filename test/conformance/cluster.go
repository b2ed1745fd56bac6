package conformance

import (
	"context"
	"encoding/json"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// cluster is a real API server.
type cluster struct {
	client dynamic.Interface
	core   typedcorev1.CoreV1Interface
}

func (c *cluster) of(namespace string, k *kind) dynamic.ResourceInterface {
	gvk := kschema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
	if k.cluster {
		namespace = ""
	}
	return c.client.Resource(gvk.GroupVersion().WithResource(k.resource)).Namespace(namespace)
}

func (c *cluster) do(ctx context.Context, namespace string, r request) (Object, error) {
	api := c.of(namespace, r.Kind)
	switch r.Op {
	case create:
		return object(api.Create(ctx, &unstructured.Unstructured{Object: r.Body}, metav1.CreateOptions{FieldManager: r.Manager}))
	case patch, apply:
		return c.patch(ctx, api, r)
	case scale:
		r.Op, r.Subresource = patch, "scale"
		if _, err := c.patch(ctx, api, r); err != nil {
			return nil, err
		}
		return object(api.Get(ctx, r.Name, metav1.GetOptions{}))
	case evict:
		return nil, c.evict(ctx, namespace, r)
	case remove:
		return nil, api.Delete(ctx, r.Name, deletion(r))
	default:
		return object(api.Get(ctx, r.Name, metav1.GetOptions{}))
	}
}

func (c *cluster) patch(ctx context.Context, api dynamic.ResourceInterface, r request) (Object, error) {
	body, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	var subresources []string
	if r.Subresource != "" {
		subresources = append(subresources, r.Subresource)
	}
	options, format := metav1.PatchOptions{FieldManager: r.Manager}, types.MergePatchType
	if r.Op == apply {
		options.Force, format = &r.Force, types.ApplyPatchType
	}
	return object(api.Patch(ctx, r.Name, format, body, options, subresources...))
}

// evict asks once: the client would repeat a refusal that says when to come back.
func (c *cluster) evict(ctx context.Context, namespace string, r request) error {
	body := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: r.Name, Namespace: namespace}}
	if r.UID != "" {
		uid := types.UID(r.UID)
		body.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	}
	return c.core.RESTClient().Post().Namespace(namespace).Resource("pods").Name(r.Name).SubResource("eviction").MaxRetries(0).Body(body).Do(ctx).Error()
}

func deletion(r request) metav1.DeleteOptions {
	out := metav1.DeleteOptions{}
	if r.Propagation != "" {
		propagation := metav1.DeletionPropagation(r.Propagation)
		out.PropagationPolicy = &propagation
	}
	if r.UID != "" || r.ResourceVersion != "" {
		out.Preconditions = &metav1.Preconditions{}
	}
	if r.UID != "" {
		uid := types.UID(r.UID)
		out.Preconditions.UID = &uid
	}
	if r.ResourceVersion != "" {
		out.Preconditions.ResourceVersion = &r.ResourceVersion
	}
	return out
}

func object(u *unstructured.Unstructured, err error) (Object, error) {
	if err != nil {
		return nil, err
	}
	return u.Object, nil
}

func (c *cluster) list(ctx context.Context, namespace string, k *kind) ([]Object, error) {
	list, err := c.of(namespace, k).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := make([]Object, len(list.Items))
	for i, item := range list.Items {
		out[i] = item.Object
	}
	return out, nil
}
