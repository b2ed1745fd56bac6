package informers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/writer"
	"github.com/edict-dev/edict/engine/world"
)

// listPage is how many objects one request asks for.
const listPage = 500

// stored reads what the API server has stored, not what its cache has.
type stored struct{ writer *writer.Writer }

// list reads which objects of a source are stored, at most so many; 0 is all.
func (s stored) list(ctx context.Context, source world.Source, most int64) (map[name2]string, error) {
	resource, err := s.writer.Resource(source.GVK)
	if err != nil {
		return nil, err
	}
	options := metav1.ListOptions{LabelSelector: source.Selector, Limit: listPage}
	if source.Name != "" {
		options.FieldSelector = metav1.ObjectNameField + "=" + source.Name
	}
	if most > 0 {
		options.Limit = most
	}
	out := map[name2]string{}
	for {
		page, err := s.writer.Metadata().Resource(resource).Namespace(source.Namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			o := &page.Items[i]
			out[name2{o.Namespace, o.Name}] = string(o.UID)
		}
		if options.Continue = page.Continue; options.Continue == "" || most > 0 {
			return out, nil
		}
	}
}

// ending reports whether the definition of a kind is being deleted, or is gone.
// It returns false if that cannot be read.
func (s stored) ending(ctx context.Context, source world.Source) bool {
	resource, err := s.writer.Resource(source.GVK)
	if err != nil {
		return true // the cluster no longer serves it
	}
	definition, err := s.writer.Metadata().Resource(discovery.Definitions).Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) { // it is gone, or an API server of its own serves the kind
		_, err := s.list(ctx, source, 1)
		return apierrors.IsNotFound(err)
	}
	return err == nil && definition.DeletionTimestamp != nil
}
