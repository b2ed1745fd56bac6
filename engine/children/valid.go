package children

import (
	"regexp"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// valid reports a child that cannot be kept.
func (s *set) valid() bool {
	manifest := s.doc.Apply.Node
	switch {
	case !s.doc.Name.Set():
		s.wrong(s.doc.Pos, "name it: expressions read it as children.NAME", "a child has no name")
	case !nameForm.MatchString(s.name):
		s.wrong(s.doc.Name.Pos(), "at most 63 letters, digits and _, a letter first and no _ at the end: expressions read it as children.NAME, and a label of the objects has it", "a child cannot be named %q", s.name)
	case s.duplicate():
		s.wrong(s.doc.Name.Pos(), "each child has a name of its own", "duplicate child %q", s.name)
	case manifest == nil || manifest.Kind != document.Map:
		s.wrong(s.doc.Pos, "apply: {apiVersion: ..., kind: ..., metadata: {name: ...}, ...}", "the child %q needs apply, the object that is kept", s.name)
	case !KindWritten(manifest, s.expansion.problems):
	case manifest.Get("metadata").Get("name") == nil:
		s.wrong(manifest.Pos, NameHint(manifest), "the child %q has no metadata.name", s.name)
	case !s.mapping("labels") || !s.mapping("annotations"):
	case s.doc.Owner && !s.ownable():
	case !s.mayStay("whenDeleted", s.doc.WhenDeleted) || !s.mayStay("whenUnwanted", s.doc.WhenUnwanted):
	default:
		return true
	}
	return false
}

// NameHint returns a hint for a manifest without a name.
func NameHint(manifest *document.Node) string {
	if manifest.Get("metadata").Get("generateName") != nil {
		return "metadata: {name: \"${key.name}-x\"}: a policy finds what it has made by its name, so generateName is not possible"
	}
	return "metadata: {name: ...}, written as a mapping"
}

// mayStay reports a field that says neither Delete nor Orphan, or that leaves behind what the
// primary object owns.
func (s *set) mayStay(field string, v v1alpha1.Text) bool {
	switch {
	case !slices.Contains([]string{"", deleteChildren, orphanChildren}, v.Value):
		s.wrong(v.Pos(), "Delete, which is the default, or Orphan", "%s cannot be %q", field, v.Value)
	case s.doc.Owner && v.Value == orphanChildren:
		s.wrong(v.Pos(), "leave out owner: the garbage collector deletes what the primary object owns", "the child %q has an owner and cannot be left behind", s.name)
	default:
		return true
	}
	return false
}

// nameForm is that of a name in an expression that is also the value of a label.
var nameForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_]{0,61}[A-Za-z0-9])?$`)

// What may become of children whose primary object is gone.
const (
	deleteChildren = "Delete"
	orphanChildren = "Orphan"
)

func (s *set) wrong(at document.Position, hint, format string, args ...any) {
	s.expansion.problems.Hintf(at, hint, format, args...)
}

func (s *set) orphan() bool { return s.doc.WhenDeleted.Value == orphanChildren }

func (s *set) duplicate() bool {
	for i := range s.expansion.policy.Spec.Children {
		if other := &s.expansion.policy.Spec.Children[i]; other == s.doc {
			return false
		} else if other.Name.Value == s.name {
			return true
		}
	}
	return false
}

// mapping reports labels or annotations that others cannot be added to.
func (s *set) mapping(name string) bool {
	n := s.doc.Apply.Node.Get("metadata").Get(name)
	if n == nil || n.Kind == document.Map {
		return true
	}
	s.wrong(n.Pos, name+": {KEY: VALUE}; a value may be a template", "the %s of a child are written as a mapping: those by which it is found again are added to it", name)
	return false
}

// ownable reports whether the primary object can own the objects: a namespaced
// object owns objects of its namespace only.
func (s *set) ownable() bool {
	if s.expansion.cluster() {
		return true
	}
	manifest := s.doc.Apply.Node
	if namespaced, known := s.expansion.namespaced(scalar(manifest, "apiVersion"), scalar(manifest, "kind")); known && !namespaced {
		s.wrong(s.doc.Pos, "leave out owner: the objects are deleted with the primary object all the same", "a %s has no namespace, and cannot be owned by an object that has one", scalar(manifest, "kind"))
		return false
	}
	if n := manifest.Get("metadata").Get("namespace"); n != nil && n.Text != ownNamespace && n.Text != "${object.metadata.namespace}" {
		s.wrong(n.Pos, "leave out owner, or the namespace, which is that of the primary object", "an object in another namespace cannot be owned by the primary object")
		return false
	}
	return true
}

// scalar returns a text of a mapping that is written out.
func scalar(n *document.Node, key string) string {
	v := n.Get(key)
	if v == nil || v.Kind != document.String {
		return ""
	}
	return v.Text
}
