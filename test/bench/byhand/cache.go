package byhand

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/edict-dev/edict/test/bench/stream"
)

// The indexes of the cache.
const (
	indexReplicaVolume = "spec.replicatedVolumeName"
	indexVolumePool    = "status.configuration.storagePoolName"
	indexPoolNode      = "status.eligibleNodes.nodeName"
	indexPoolGroup     = "spec.lvmVolumeGroups.name"
	indexResourceNode  = "spec.nodeName"
)

// Cache holds typed objects by kind, as informers keep them.
type Cache struct {
	// Copies returns a deep copy of each object, as the reader of controller-runtime
	// does by default. Without it, the objects must not be changed.
	Copies   bool
	indexers map[string]toolscache.Indexer
	watches  map[string]*stream.Stream
	decoder  runtime.Decoder
}

// NewCache makes an empty cache.
func NewCache(copies bool) *Cache {
	indexers := map[string]toolscache.Indexers{
		"ReplicatedStoragePool": {
			indexPoolNode:  by(func(p *StoragePool) []string { return namesOf(p.Status.EligibleNodes) }),
			indexPoolGroup: by(groupNames),
		},
		"ReplicatedVolume": {indexVolumePool: by(func(v *Volume) []string {
			if v.Status.Configuration == nil {
				return nil
			}
			return []string{v.Status.Configuration.StoragePoolName}
		})},
		"ReplicatedVolumeReplica": {indexReplicaVolume: by(func(r *Replica) []string { return []string{r.Spec.ReplicatedVolumeName} })},
		"DRBDResource":            {indexResourceNode: by(func(r *Resource) []string { return []string{r.Spec.NodeName} })},
		"LVMVolumeGroup":          {}, "Node": {}, "Pod": {},
	}
	c := &Cache{Copies: copies, indexers: map[string]toolscache.Indexer{}, decoder: codecs().UniversalDeserializer()}
	c.watches = openWatches(slices.Collect(maps.Keys(indexers))...)
	for kind, by := range indexers {
		c.indexers[kind] = toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, by)
	}
	return c
}

func by[T any](keys func(T) []string) toolscache.IndexFunc {
	return func(raw any) ([]string, error) {
		o, ok := raw.(T)
		if !ok {
			return nil, fmt.Errorf("the cache has a %T where an object of another kind is expected", raw)
		}
		return keys(o), nil
	}
}

func namesOf(nodes []EligibleNode) []string {
	out := make([]string, len(nodes))
	for i := range nodes {
		out[i] = nodes[i].NodeName
	}
	return out
}

func groupNames(p *StoragePool) []string {
	out := make([]string, 0, len(p.Spec.VolumeGroups))
	for i := range p.Spec.VolumeGroups {
		out = append(out, p.Spec.VolumeGroups[i].Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Decode decodes an object that stands alone, as JSON.
func (c *Cache) Decode(text []byte) (client.Object, error) {
	return one(runtime.Decode(c.decoder, text))
}

// Put adds or replaces an object, and returns the one before; nil if there was none.
func (c *Cache) Put(kind string, o client.Object) (old any, err error) {
	key, err := toolscache.MetaNamespaceKeyFunc(o)
	if err != nil {
		return nil, err
	}
	old, _, err = c.indexers[kind].GetByKey(key)
	if err != nil {
		return nil, err
	}
	return old, c.indexers[kind].Update(o)
}

// Delete removes an object, and returns it; nil if there was none.
func (c *Cache) Delete(kind, key string) (client.Object, error) {
	raw, ok, err := c.indexers[kind].GetByKey(key)
	if err != nil || !ok {
		return nil, err
	}
	return raw.(client.Object), c.indexers[kind].Delete(raw)
}

// get returns an object, or nil.
func get[T any, P pointer[T]](c *Cache, kind, key string) (P, error) {
	raw, ok, err := c.indexers[kind].GetByKey(key)
	if err != nil || !ok {
		return nil, err
	}
	return c.read(raw).(P), nil
}

type pointer[T any] interface {
	*T
	client.Object
}

func (c *Cache) read(raw any) runtime.Object {
	o := raw.(runtime.Object)
	if c.Copies {
		return o.DeepCopyObject()
	}
	return o
}

// list returns the objects of a kind.
func list[P client.Object](c *Cache, kind string) []P {
	return readAll[P](c, c.indexers[kind].List())
}

// indexed returns the objects that an index has for a value.
func indexed[P client.Object](c *Cache, kind, index, key string) ([]P, error) {
	found, err := c.indexers[kind].ByIndex(index, key)
	return readAll[P](c, found), err
}

func readAll[P client.Object](c *Cache, found []any) []P {
	out := make([]P, len(found))
	for i, raw := range found {
		out[i] = c.read(raw).(P)
	}
	return out
}

// names returns the names of the objects that an index has for a value. No object is
// copied.
func (c *Cache) names(kind, index, key string) ([]string, error) {
	return c.indexers[kind].IndexKeys(index, key)
}
