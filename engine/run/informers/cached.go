package informers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/world"
)

// cached is an object of the read model as an informer stores it. Informers
// ask an object for no more than its name and version.
type cached struct {
	metav1.Object // the methods that informers do not call
	object        *world.Object
	// initialEnd is set for the bookmark that ends a streamed list.
	initialEnd bool
}

var _ runtime.Object = (*cached)(nil)

// ObjectOf returns the object of the read model that a client has decoded; nil for what is
// none, such as an error of the API server.
func ObjectOf(o any) *world.Object {
	if c, ok := o.(*cached); ok {
		return c.object
	}
	return nil
}

// GetName implements metav1.Object.
func (c *cached) GetName() string { return c.object.Name }

// GetNamespace implements metav1.Object.
func (c *cached) GetNamespace() string { return c.object.Namespace }

// GetUID implements metav1.Object.
func (c *cached) GetUID() types.UID { return types.UID(c.object.UID) }

// GetResourceVersion implements metav1.Object.
func (c *cached) GetResourceVersion() string { return c.object.Version().ResourceVersion }

// GetAnnotations implements metav1.Object: informers ask it of bookmarks.
func (c *cached) GetAnnotations() map[string]string {
	if c.initialEnd {
		return map[string]string{initialEventsEnd: "true"}
	}
	return nil
}

// GetObjectKind implements runtime.Object.
func (c *cached) GetObjectKind() kschema.ObjectKind { return kschema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. What it holds never changes.
func (c *cached) DeepCopyObject() runtime.Object { return c }

// cachedList is a list as the API server sends it.
type cachedList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []*cached
}

// DeepCopyObject implements runtime.Object. What it holds never changes.
func (l *cachedList) DeepCopyObject() runtime.Object { return l }
