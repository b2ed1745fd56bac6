package watch

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// byNamespace is a set of keys by their namespaces.
type byNamespace map[string]map[eval.Key]bool

func (b byNamespace) add(key eval.Key) {
	keys := b[key.Namespace]
	if keys == nil {
		keys = map[eval.Key]bool{}
		b[key.Namespace] = keys
	}
	keys[key] = true
}

func (b byNamespace) remove(key eval.Key) {
	if delete(b[key.Namespace], key); len(b[key.Namespace]) == 0 {
		delete(b, key.Namespace)
	}
}

// near visits the keys in whose list of an input an object may be.
func (b byNamespace) near(in *plan.Input, o *world.Object, visit func(eval.Key)) {
	for namespace, keys := range b {
		if in.Near(namespace, o) {
			for key := range keys {
				visit(key)
			}
		}
	}
}
