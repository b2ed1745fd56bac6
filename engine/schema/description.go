package schema

import (
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// KeepDescriptions makes the set keep what CRDs that are added from now on say of
// their fields. Only editors need it.
func (s *Set) KeepDescriptions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.descriptions = map[string]map[string]string{}
}

// Description returns what a CRD says of a field of a type; "" when it says nothing, or
// was not kept. What several kinds share has the names of all their types, separated
// by |.
func (s *Set) Description(names, field string) string {
	if s == nil {
		return ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for name := range strings.SplitSeq(names, "|") {
		if text := s.descriptions[name][field]; text != "" {
			return text
		}
	}
	return s.next.Description(names, field)
}

// describe adds the descriptions of the fields of a CRD's type.
func (s *Set) describe(name string, fields map[string]spec.Schema) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.descriptions == nil {
		return
	}
	texts := map[string]string{}
	for field := range fields {
		if text := fields[field].Description; text != "" {
			texts[field] = text
		}
	}
	s.descriptions[name] = texts
}
