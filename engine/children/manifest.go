package children

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// The labels and annotations by which a child is found again.
const (
	// PolicySetLabel and PolicyLabel are the policy that keeps the object, ChildLabel its name among
	// the children of the policy.
	PolicySetLabel = "edict.dev/policyset"
	PolicyLabel    = "edict.dev/policy"
	ChildLabel     = "edict.dev/child"
	// PrimaryName and PrimaryNamespace are annotations: names may be longer than the
	// value of a label.
	PrimaryName      = "edict.dev/primary-name"
	PrimaryNamespace = "edict.dev/primary-namespace"
	// WhenUnwanted is an annotation with the whenUnwanted of the set, if it is Orphan. It holds
	// also when the policy no longer has the set.
	WhenUnwanted = "edict.dev/when-unwanted"
	// UntilPrefix begins the annotation that is set once finalizer.until has held.
	UntilPrefix = "until.edict.dev/"
)

// ownNamespace is the namespace of the primary object.
const ownNamespace = "${key.namespace}"

// mine is a condition on an object: the policy keeps it for the key. An object that has
// only some of the marks is somebody else's.
func (e *expansion) mine() string {
	out := label(PolicyLabel) + fmt.Sprintf(" == %q && ", e.policy.Metadata.Name.Value) + annotation(PrimaryName) + " == key.name"
	if set := e.policy.Set; set != "" {
		out = label(PolicySetLabel) + fmt.Sprintf(" == %q && ", set) + out
	}
	if e.cluster() {
		return out
	}
	return out + " && " + annotation(PrimaryNamespace) + " == key.namespace && " + annotation(PrimaryNamespace) + ` != ""`
}

// label and annotation are the value of one of an item; "" is one that it does not have.
func label(name string) string { return fmt.Sprintf(`item.metadata.?labels[?%q].orValue("")`, name) }
func annotation(name string) string {
	return fmt.Sprintf(`item.metadata.?annotations[?%q].orValue("")`, name)
}

// manifest is the object as it is applied: with its namespace, its owner, and what
// it is found by.
func (s *set) manifest() *document.Node {
	apply := s.doc.Apply.Node
	metadata := apply.Get("metadata")
	at := metadata.Pos
	annotations := []field{{PrimaryName, document.NewText(at, "${key.name}")}}
	if !s.expansion.cluster() {
		annotations = append(annotations, field{PrimaryNamespace, document.NewText(at, ownNamespace)})
	}
	if s.doc.WhenUnwanted.Value == orphanChildren {
		annotations = append(annotations, field{WhenUnwanted, document.NewText(at, orphanChildren)})
	}
	labels := []field{{PolicyLabel, document.NewText(at, s.expansion.policy.Metadata.Name.Value)}, {ChildLabel, document.NewText(at, s.name)}}
	if set := s.expansion.policy.Set; set != "" {
		labels = append(labels, field{PolicySetLabel, document.NewText(at, set)})
	}
	fields := []field{
		{"labels", with(metadata.Get("labels"), at, labels...)},
		{"annotations", with(metadata.Get("annotations"), at, annotations...)},
	}
	if s.doc.Owner {
		fields = append(fields, field{"ownerReferences", s.owners(metadata.Get("ownerReferences"))})
	}
	if s.inOwnNamespace() {
		fields = append(fields, field{"namespace", document.NewText(at, ownNamespace)})
	}
	return with(apply, at, field{"metadata", with(metadata, at, fields...)})
}

// inOwnNamespace reports whether an object without a namespace is in that of the
// primary object.
func (s *set) inOwnNamespace() bool {
	apply := s.doc.Apply.Node
	namespaced, known := s.expansion.namespaced(scalar(apply, "apiVersion"), scalar(apply, "kind"))
	return !s.elsewhere() && !s.expansion.cluster() && (namespaced || !known)
}

// owners are the owner references of an object, with the primary object as its
// controller.
func (s *set) owners(given *document.Node) *document.Node {
	at, of := s.doc.Pos, s.expansion.policy.Spec.For
	own := mapping(at, field{"apiVersion", of.APIVersion.Node}, field{"kind", of.Kind.Node},
		field{"name", document.NewText(at, "${key.name}")}, field{"uid", document.NewText(at, "${object.metadata.uid}")},
		field{"controller", truth(at)}, field{"blockOwnerDeletion", truth(at)})
	return document.NewList(at, append(given.Items(), own)...)
}

// KindWritten reports an object whose apiVersion or kind is absent or computed.
func KindWritten(manifest *document.Node, problems Problems) bool {
	const hint = "write it out, so that the needed permissions are known"
	for _, field := range []string{"apiVersion", "kind"} {
		switch n := manifest.Get(field); {
		case n == nil || n.Kind != document.String || n.Text == "":
			problems.Hintf(manifest.Pos, "such as {apiVersion: v1, kind: ConfigMap, ...}, written out", "the object needs apiVersion and kind")
			return false
		case strings.Contains(n.Text, "${"):
			problems.Hintf(n.Pos, hint, "apiVersion and kind cannot be computed")
			return false
		}
	}
	return true
}
