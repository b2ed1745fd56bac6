package analyze

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// InNamespace returns the join restricted to objects in the namespace of the key. If
// loose, it is not known whether both kinds have namespaces, and an object or a key
// without one matches all. whole says that there is no `where` beside it.
func (j Join) InNamespace(loose, whole bool) Join {
	items := []*Side{{form: sideItemNamespace, loose: loose}}
	probes := []*Side{{form: sideKeyNamespace, loose: loose}}
	if j.Item != nil {
		items, probes = append(items, j.Item), append(probes, j.Probe)
	}
	j.Exact = j.Exact || whole
	j.Item, j.Probe = combined(items), combined(probes)
	return j
}

// The index keys of what has no namespace: a namespace cannot be named like them.
const (
	noNamespace  = "\x01none"
	anyNamespace = "\x01any"
)

// namespaces returns the index keys of the namespace of one side.
func (s *Side) namespaces(scope expr.Scope) []string {
	if s.form == sideItemNamespace {
		return s.itemNamespaces(itemNamespace(scope))
	}
	v, _ := scope.ResolveName(keyNamespace)
	of, _ := v.(value.Value)
	namespace, _ := value.Str(of)
	switch {
	case !s.loose:
		return []string{namespace}
	case namespace == "":
		return []string{anyNamespace}
	default:
		return []string{namespace, noNamespace}
	}
}

func (s *Side) itemNamespaces(namespace string) []string {
	switch {
	case !s.loose:
		return []string{namespace}
	case namespace == "":
		return []string{noNamespace, anyNamespace}
	default:
		return []string{namespace, anyNamespace}
	}
}

func itemNamespace(scope expr.Scope) string {
	v, _ := scope.ResolveName(ItemName)
	of, _ := v.(value.Value)
	namespace, _ := value.Str(value.Path(of, "metadata", "namespace"))
	return namespace
}
