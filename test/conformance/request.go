package conformance

import (
	"slices"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
)

// Object is a manifest as plain JSON values.
type Object = apiserver.Object

// The operations of requests.
const (
	create = "create"
	patch  = "patch"
	apply  = "apply"
	remove = "delete"
	get    = "get"
	scale  = "scale"
	evict  = "evict"
)

// request is one request of a scenario. In its body texts such as $uid:a and
// $rv:a stand for the uid and the resourceVersion of an object, $rv0:a for the
// version that it had first.
type request struct {
	Op          string
	Kind        *kind
	Name        string
	Subresource string
	Body        Object
	Manager     string
	Force       bool
	// Of a deletion.
	Propagation, UID, ResourceVersion string
}

// scenario is a sequence of requests in a namespace of its own.
type scenario struct {
	Name     string
	Requests []request
	// Collected says that all objects are compared after each request, when the
	// garbage collector has done its work.
	Collected bool
	// Codes says that only codes and reasons are compared.
	Codes bool
}

// kind is one of the kinds that requests are made for.
type kind struct {
	schema.GVK
	resource string
	// cluster says that objects have no namespace.
	cluster bool
	// validated says that what is wrong with objects is compared word by word.
	validated bool
	// base is the spec that objects cannot do without, data are fields at the
	// top.
	base Object
	// fragments can be merged into an object in any combination, by patch or by
	// apply; patches only by patch.
	fragments, patches, statuses []Object
	// fixed are patches that may be refused since a field is immutable.
	fixed []Object
	// coded are the paths of fields that kube-apiserver gives defaults in code.
	coded map[string]bool
	// exact says that the server in memory knows all that kube-apiserver does.
	exact bool
	// restless says that resource versions are not compared.
	restless bool
}

func (k *kind) object(name string, fragments ...Object) Object {
	out := Object{"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": Object{"name": name}}
	for _, f := range fragments {
		merge(out, f)
	}
	return out
}

// merge merges fields into an object: lists of objects by their names, other
// lists by adding.
func merge(into, from Object) {
	for field, v := range from {
		switch v := v.(type) {
		case Object:
			inner, ok := into[field].(Object)
			if !ok {
				inner = Object{}
				into[field] = inner
			}
			merge(inner, v)
		case []any:
			into[field] = mergeLists(into[field], v)
		default:
			into[field] = v
		}
	}
}

func mergeLists(into any, from []any) []any {
	out, ok := into.([]any)
	if !ok {
		out = []any{}
	}
next:
	for _, raw := range from {
		item, ok := raw.(Object)
		if !ok {
			out = appendNew(out, raw)
			continue
		}
		copied := Object{}
		merge(copied, item)
		for _, have := range out {
			if h, ok := have.(Object); ok && identity(h) == identity(item) {
				merge(h, item)
				continue next
			}
		}
		out = append(out, copied)
	}
	return out
}

func appendNew(list []any, v any) []any {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// identity is what tells items of a list apart, for all kinds here.
func identity(o Object) [4]any {
	protocol := o["protocol"]
	if protocol == nil {
		protocol = "TCP"
	}
	if o["containerPort"] != nil || o["port"] != nil {
		return [4]any{o["port"], o["containerPort"], protocol}
	}
	return [4]any{o["name"], o["type"], o["key"]}
}
