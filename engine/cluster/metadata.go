package cluster

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Metadata returns a client for the metadata of objects. It returns an error for a name or a
// namespace that is not a single path segment, where the client of client-go joins any text
// to the path of the request. All metadata clients must come from here.
func Metadata(config *rest.Config, client *http.Client) (metadata.Interface, error) {
	inner, err := metadata.NewForConfigAndClient(config, client)
	return segments{inner}, err
}

type segments struct{ metadata.Interface }

func (s segments) Resource(r kschema.GroupVersionResource) metadata.Getter {
	getter := s.Interface.Resource(r)
	return resource{getter, getter, ""}
}

// resource reads and writes the objects of one resource, in one namespace if it is set.
type resource struct {
	metadata.ResourceInterface
	getter    metadata.Getter
	namespace string
}

func (r resource) Namespace(namespace string) metadata.ResourceInterface {
	return resource{r.getter.Namespace(namespace), r.getter, namespace}
}

// check returns an error if a part of the request's path is not a single segment.
func (r resource) check(name string, subresources ...string) error {
	for _, segment := range append(subresources, r.namespace, name) {
		if wrong := content.IsPathSegmentName(segment); len(wrong) > 0 {
			return apierrors.NewBadRequest("the request is not sent: the name " + segment + " " + wrong[0])
		}
	}
	return nil
}

func (r resource) Get(ctx context.Context, name string, o metav1.GetOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	if err := r.check(name, subresources...); err != nil {
		return nil, err
	}
	return r.ResourceInterface.Get(ctx, name, o, subresources...)
}

func (r resource) Patch(ctx context.Context, name string, typ types.PatchType, body []byte, o metav1.PatchOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	if err := r.check(name, subresources...); err != nil {
		return nil, err
	}
	return r.ResourceInterface.Patch(ctx, name, typ, body, o, subresources...)
}

func (r resource) Delete(ctx context.Context, name string, o metav1.DeleteOptions, subresources ...string) error {
	if err := r.check(name, subresources...); err != nil {
		return err
	}
	return r.ResourceInterface.Delete(ctx, name, o, subresources...)
}

func (r resource) DeleteCollection(ctx context.Context, o metav1.DeleteOptions, list metav1.ListOptions) error {
	if err := r.check(""); err != nil {
		return err
	}
	return r.ResourceInterface.DeleteCollection(ctx, o, list)
}

func (r resource) List(ctx context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	if err := r.check(""); err != nil {
		return nil, err
	}
	return r.ResourceInterface.List(ctx, o)
}

func (r resource) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := r.check(""); err != nil {
		return nil, err
	}
	return r.ResourceInterface.Watch(ctx, o)
}
