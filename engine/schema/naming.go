package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
)

// namesText says how objects of some built-in kinds may be named, by group/kind; all others
// by a DNS subdomain. kube-apiserver has that in code only; test/conformance compares the
// two.
//
//go:embed names.json
var namesText []byte

var names = sync.OnceValue(func() map[string]validation.ValidateNameFunc {
	table := map[string]string{}
	err := json.Unmarshal(namesText, &table)
	out := map[string]validation.ValidateNameFunc{}
	for kind, naming := range table {
		if out[kind] = namings[naming]; out[kind] == nil {
			err = fmt.Errorf("unknown naming %q", naming)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("the embedded table of names: %v", err))
	}
	return out
})

// Naming says why the API server refuses a name of an object of a kind, or, if prefix is
// set, what the name begins with. It returns nothing for a name that is accepted.
type Naming = validation.ValidateNameFunc

// Naming returns the rule for the names of a kind: of a built-in kind and of one with a CRD
// what kube-apiserver requires, of any other that they are path segments.
func (s *Set) Naming(kind GVK) Naming {
	if naming := names()[kind.Group()+"/"+kind.Kind]; naming != nil {
		return naming
	}
	if _, builtin := Builtin().Kind(kind); builtin || s.custom(kind) {
		return validation.NameIsDNSSubdomain
	}
	return pathSegment
}

// custom reports whether a kind has a CRD.
func (s *Set) custom(kind GVK) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	_, known := s.withoutStatus[kind]
	s.mu.RUnlock()
	return known || s.next.custom(kind)
}

// namings are the functions of the names in that table.
var namings = map[string]validation.ValidateNameFunc{
	"DNS label":    validation.NameIsDNSLabel,
	"path segment": pathSegment,
	// The name is the value of a label of what is made, or is that with 11 characters more.
	"DNS subdomain of 52 characters": atMost(52, validation.NameIsDNSSubdomain),
	"DNS subdomain of 63 characters": atMost(63, validation.NameIsDNSSubdomain),
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// atMost refuses longer names, too.
func atMost(length int, naming validation.ValidateNameFunc) validation.ValidateNameFunc {
	return func(name string, prefix bool) []string {
		wrong := naming(name, prefix)
		if len(name) > length {
			wrong = append(wrong, fmt.Sprintf("must be no more than %d characters", length))
		}
		return wrong
	}
}
