package v1alpha1

import (
	"iter"
	"strings"
)

// The labels by which ConfigMaps are found; the value is "true".
const (
	// LabelPolicy marks a ConfigMap whose keys hold policies.
	LabelPolicy = "edict.dev/policy"
	// LabelParams marks one that holds values for their params, a key per
	// policy.
	LabelParams = "edict.dev/params"
	// LabelAllowances marks one that shows, in keys that end in .yaml, the allowances that
	// the controller was started with. Commands read it; the controller does not.
	LabelAllowances = "edict.dev/allowances"
	// LabelRevision marks the ControllerRevisions with the history of policies;
	// the value is the policy's name.
	LabelRevision = "edict.dev/revision-of"
	// LabelResult is on them too: what became of the revision.
	LabelResult = "edict.dev/result"
)

// The annotations of such ControllerRevisions.
const (
	// AnnotationAuthor is the field manager that wrote the revision.
	AnnotationAuthor = "edict.dev/author"
	// AnnotationEdited is when it was written, in RFC 3339.
	AnnotationEdited = "edict.dev/edited"
	// AnnotationPartly is "true" if it was in force only for the objects of some steps
	// of its rollout.
	AnnotationPartly = "edict.dev/partly-in-force"
)

// The annotations of such ConfigMaps.
const (
	// AnnotationDigests marks a Secret of a snapshot: its values are digests.
	AnnotationDigests = "edict.dev/digests"
	// AnnotationMode is written by people: a mode for all policies of the
	// ConfigMap, or policy=mode pairs with commas between them.
	AnnotationMode = "edict.dev/mode"
	// AnnotationRollout is written by people: the steps in which new revisions of the
	// policies of the ConfigMap come into force.
	AnnotationRollout = "edict.dev/rollout"
	// AnnotationStatus and those below are written by the controller: what
	// became of the ConfigMap as it is now.
	AnnotationStatus = "edict.dev/status"
	// AnnotationRevision is the hash of the data that was judged.
	AnnotationRevision = "edict.dev/revision"
	// AnnotationObserved is the hash of all that was taken into account: the data, the
	// annotations written by people, and the ConfigMaps that are judged together with it.
	AnnotationObserved = "edict.dev/observed"
	// AnnotationInstallation names the installation of the controller that has judged the
	// ConfigMap; with LabelAllowances it is written by the installation, and names it.
	AnnotationInstallation = "edict.dev/installation"
	// AnnotationPolicies are the policies of the ConfigMap that run, as
	// policy=revision with spaces between them; Running reads it.
	AnnotationPolicies = "edict.dev/policies"
	// AnnotationError says what is wrong, and where.
	AnnotationError = "edict.dev/error"
	// AnnotationWarning says what is worth a look, and stops nothing.
	AnnotationWarning = "edict.dev/warning"
	// AnnotationShadow is what policies in the shadow would have done otherwise.
	AnnotationShadow = "edict.dev/shadow"
	// AnnotationRolloutStatus is how far the rollouts of new revisions have come.
	AnnotationRolloutStatus = "edict.dev/rollout-status"
)

// MoreRunning stands in AnnotationPolicies for more policies than it could hold.
const MoreRunning = "..."

// StatusWaiting is the status of a ConfigMap while something of it is waited for.
const StatusWaiting = "Waiting"

// Running returns the policies that run and their revisions, by the annotations of a
// ConfigMap. A policy MoreRunning stands for more than the annotation could hold.
func Running(annotations map[string]string) iter.Seq2[string, string] {
	return func(yield func(policy, revision string) bool) {
		for field := range strings.FieldsSeq(annotations[AnnotationPolicies]) {
			if policy, revision, _ := strings.Cut(field, "="); !yield(policy, revision) {
				return
			}
		}
	}
}
