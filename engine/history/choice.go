package history

import (
	"fmt"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/source"
)

// The reasons why a set has not the text that it asks for.
const (
	SourceNotFound = "SourceNotFound"
	DigestMismatch = "DigestMismatch"
)

// Choice is the text that a set runs.
type Choice struct {
	// Text is nil if there is none.
	Text *source.ConfigMap
	// Reason is SourceNotFound or DigestMismatch if it is not the text that the set asks for, and
	// Message explains it; otherwise Message is a note, or empty.
	Reason, Message string
}

// Choose returns the text that a set runs: that of its ConfigMap, which is nil if there is none, or
// one of those that are kept.
func Choose(set *edictv1.PolicySet, m *source.ConfigMap, kept []*Text) Choice {
	wanted, name := set.Spec.Source.Digest, set.Spec.Source.ConfigMap.Name
	switch {
	case m != nil && (wanted == "" || m.Digest() == wanted):
		return Choice{Text: m}
	case wanted == "":
		out := Choice{Reason: SourceNotFound, Message: fmt.Sprintf("the ConfigMap %s does not exist in the namespace %s: create it, or correct spec.source", name, set.Namespace)}
		if t := ByRevision(kept, set.Status.Revision); t != nil {
			out.Text = t.ConfigMap
		}
		return out
	}
	has := "the ConfigMap " + name + " does not exist"
	if m != nil {
		has = "the ConfigMap " + name + " has the digest " + m.Digest()
	}
	if t := ByDigest(kept, wanted); t != nil {
		return Choice{Text: t.ConfigMap, Message: fmt.Sprintf("the text with spec.source.digest is from the history; %s", has)}
	}
	reason := DigestMismatch
	if m == nil {
		reason = SourceNotFound
	}
	return Choice{Reason: reason, Message: fmt.Sprintf("%s, and the history has no text with spec.source.digest %s: correct one of the two (edict digest prints that of files)", has, wanted)}
}
