package schema

import (
	"maps"
	"slices"
	"sync"
)

// GVK names a kind: its API version as in a manifest, and its kind.
type GVK struct {
	APIVersion string
	Kind       string
}

// String returns apiVersion/kind.
func (g GVK) String() string { return g.APIVersion + "/" + g.Kind }

// Secret is the kind of what nobody is to see the values of, and whose texts the API server
// encodes.
var Secret = GVK{APIVersion: "v1", Kind: "Secret"}

// Set knows the types of kinds. It is safe for concurrent use.
type Set struct {
	mu    sync.RWMutex
	kinds map[GVK]*Type
	// resources are those of the kinds that came with one.
	resources map[GVK]Resource
	// withoutStatus says of custom kinds whether they lack the subresource status. It is
	// kept apart from the structures, which take long to make.
	withoutStatus map[GVK]bool
	// structures are made when they are asked for.
	structures map[GVK]func() *Structure
	// descriptions are those of fields, by the name of their type; nil keeps none.
	descriptions map[string]map[string]string
	// texts are the sources of the set, except for the built-in one.
	texts []Text
	next  *Set
}

// Text is a source of kinds: the manifest of a CRD, or an OpenAPI document.
type Text struct {
	CRD  bool
	Text string
}

// AddText adds the kinds of a text.
func (s *Set) AddText(t Text) error {
	if t.CRD {
		return s.AddCRD([]byte(t.Text))
	}
	return s.AddOpenAPI([]byte(t.Text))
}

// Texts returns the texts from which AddText makes the same set, on top of Builtin.
func (s *Set) Texts() []Text {
	if s == nil {
		return nil
	}
	out := s.next.Texts()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return append(out, s.texts...)
}

func (s *Set) keep(t Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.texts, t) {
		s.texts = append(s.texts, t)
	}
}

// Join is AddAll, with the texts of the other set.
func (s *Set) Join(other *Set) {
	s.AddAll(other)
	for _, t := range other.Texts() {
		s.keep(t)
	}
}

// NewSet makes an empty set that asks next for what it does not know; next may
// be nil.
func NewSet(next *Set) *Set {
	return &Set{kinds: map[GVK]*Type{}, resources: map[GVK]Resource{}, structures: map[GVK]func() *Structure{}, withoutStatus: map[GVK]bool{}, next: next}
}

// Add makes a kind known.
func (s *Set) Add(gvk GVK, t *Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds[gvk] = t
}

// Kind returns the type of a kind; false when no schema is known.
func (s *Set) Kind(gvk GVK) (*Type, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.RLock()
	t, ok := s.kinds[gvk]
	s.mu.RUnlock()
	if !ok {
		return s.next.Kind(gvk)
	}
	return t, true
}

// Kinds returns the kinds of an API version of which types are known, in no order.
func (s *Set) Kinds(apiVersion string) (kinds []string) {
	for ; s != nil; s = s.next {
		s.mu.RLock()
		for gvk := range s.kinds {
			if gvk.APIVersion == apiVersion {
				kinds = append(kinds, gvk.Kind)
			}
		}
		s.mu.RUnlock()
	}
	return kinds
}

// LacksStatus reports whether a kind is known to have no subresource status: its CRD says so.
func (s *Set) LacksStatus(gvk GVK) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	lacks, known := s.withoutStatus[gvk]
	s.mu.RUnlock()
	if !known {
		return s.next.LacksStatus(gvk)
	}
	return lacks
}

// Of returns the type of a kind, Untyped when no schema is known.
func (s *Set) Of(gvk GVK) *Type {
	if t, ok := s.Kind(gvk); ok {
		return t
	}
	return untyped
}

var untyped = Untyped()

// AddAll adds every kind that another set knows by itself, but not its texts.
func (s *Set) AddAll(other *Set) {
	other.mu.RLock()
	defer other.mu.RUnlock()
	for gvk, t := range other.kinds {
		s.Add(gvk, t)
	}
	for gvk, r := range other.resources {
		s.AddResource(gvk, r)
	}
	for gvk, f := range other.structures {
		s.addStructure(gvk, f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.withoutStatus, other.withoutStatus)
}
