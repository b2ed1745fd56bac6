package conformance

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// memory is the server in memory.
type memory struct{ *apiserver.Server }

func newMemory() (*memory, error) {
	schemas := schema.NewSet(schema.Builtin())
	if err := schemas.AddFolder("testdata/crds"); err != nil {
		return nil, err
	}
	return memoryOf(schemas), nil
}

func memoryOf(schemas *schema.Set) *memory {
	return &memory{apiserver.New(schemas, func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) })}
}

func (m *memory) do(_ context.Context, namespace string, r request) (Object, error) {
	if r.Kind.cluster {
		namespace = ""
	}
	id, _ := world.Identify(r.Kind.GVK, namespace, r.Name)
	options := apiserver.Options{Manager: r.Manager, Subresource: r.Subresource, Force: r.Force}
	if r.Body != nil && r.Op != patch && r.Op != scale && !r.Kind.cluster {
		r.Body = runtime.DeepCopyJSON(r.Body)
		r.Body["metadata"].(Object)["namespace"] = namespace
	}
	switch r.Op {
	case create:
		return m.Create(r.Body, options)
	case patch:
		return m.Patch(id, r.Body, options)
	case scale:
		options.Subresource = "scale"
		return m.Patch(id, r.Body, options)
	case evict:
		return nil, m.Evict(id, apiserver.Deletion{UID: r.UID, ResourceVersion: r.ResourceVersion})
	case apply:
		return m.Apply(id, r.Body, options)
	case remove:
		return nil, m.Delete(id, apiserver.Deletion{Propagation: metav1.DeletionPropagation(r.Propagation), UID: r.UID, ResourceVersion: r.ResourceVersion})
	default:
		if o := m.Get(id); o != nil {
			return o, nil
		}
		return nil, apierrors.NewNotFound(kschema.GroupResource{Resource: r.Kind.resource}, r.Name)
	}
}

func (m *memory) list(_ context.Context, namespace string, k *kind) ([]Object, error) {
	var out []Object
	for _, o := range m.List() {
		if id := apiserver.ID(o); id.GVK() == k.GVK && id.Namespace() == namespace {
			out = append(out, o)
		}
	}
	return out, nil
}
