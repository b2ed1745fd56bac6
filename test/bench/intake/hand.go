package intake

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/edict-dev/edict/test/bench/byhand"
)

// hand is a cache of client-go: an indexer for each kind.
type hand interface {
	decode(text []byte) (client.Object, error)
	put(kind string, o client.Object) error
}

// typed has structs of Go, with the indexes of the controllers written by hand.
type typed struct{ cache *byhand.Cache }

func newTyped() hand { return typed{byhand.NewCache(true)} }

func (t typed) decode(text []byte) (client.Object, error) { return t.cache.Decode(text) }

func (t typed) put(kind string, o client.Object) error {
	_, err := t.cache.Put(kind, o)
	return err
}

// loose has maps, as the dynamic client makes them, without an index.
type loose map[string]toolscache.Indexer

func newLoose() hand { return loose{} }

func (loose) decode(text []byte) (client.Object, error) {
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(text)
}

func (l loose) put(kind string, o client.Object) error {
	if l[kind] == nil {
		l[kind] = toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{})
	}
	return l[kind].Update(o)
}

// handDecode decodes objects.
func handDecode(h hand, each [][]byte, into []client.Object) (err error) {
	for i, text := range each {
		if into[i], err = h.decode(text); err != nil {
			return err
		}
	}
	return nil
}

// handStore puts objects into the cache.
func handStore(h hand, kind string, all []client.Object) error {
	for _, o := range all {
		if err := h.put(kind, o); err != nil {
			return err
		}
	}
	return nil
}
