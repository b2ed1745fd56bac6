package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Rule is one step of the decision: when it holds, do.
type Rule struct {
	// Name is shown in events, traces and effects.
	Name Text `yaml:"name" schema:"required"`
	// When is the condition; without it the rule always holds.
	When Condition `yaml:"when"`
	// ForEach runs the rule once per item of a list.
	ForEach Text `yaml:"forEach"`
	// As is the name of an item in expressions; default item.
	As Text `yaml:"as"`
	// Variables are computed for the rule, in their order.
	Variables []Variable `yaml:"variables"`
	// Do are the actions, in their order.
	Do []Action `yaml:"do"`
	// Cases is a decision table: the first that matches is done.
	Cases []Case `yaml:"cases"`
	// OnError is done when an item fails; error.message is known there.
	OnError []Action `yaml:"onError"`
	// ContinueOnError lets later rules run although an item failed.
	ContinueOnError bool `yaml:"continueOnError"`
	// Finally makes the rule run also after a rule that failed.
	Finally bool `yaml:"finally"`
	// Stop ends the evaluation after this rule.
	Stop bool `yaml:"stop"`
	// Debounce delays the rule.
	Debounce *Debounce `yaml:"debounce"`
	// Rate bounds how often the rule runs.
	Rate *Rate `yaml:"rate"`
	// Prunes says that the rule was derived from children and deletes some of
	// them: it is evaluated for keys without a primary object, too.
	Prunes bool `yaml:"-"`
	// Child is the set of children from which the rule was derived that makes or deletes
	// some of them; "" is another rule.
	Child string `yaml:"-"`
	// Former says that these are children which the policy no longer has.
	Former bool `yaml:"-"`
	Pos    document.Position
}

// Condition is an expression, or one that has to be true for some time.
type Condition struct {
	Text
	// Held is an expression over the primary object and the inputs. An annotation of the
	// primary object has the time since when it is true.
	Held Text `yaml:"held" schema:"required"`
	// For is a duration, such as 5m, or an expression, such as params.delay.
	For Text `yaml:"for" schema:"required"`
}

// Timed reports whether the condition has to be true for some time.
func (c *Condition) Timed() bool { return c.Node != nil && c.Node.Kind == document.Map }

// Case is one row of a decision table.
type Case struct {
	// Name is shown in traces.
	Name Text `yaml:"name"`
	// When is the condition of the row; without it the row always matches.
	When Text `yaml:"when"`
	// Do are the actions of the row.
	Do  []Action `yaml:"do"`
	Pos document.Position
}

// Debounce delays a rule so that it runs at most once per window and key.
type Debounce struct {
	// Key tells delayed runs apart.
	Key Template `yaml:"key" schema:"required"`
	// Window is a duration: how long the rule waits, and how often it runs.
	Window Template `yaml:"window" schema:"required"`
	// Allowed are the times of the week in which the rule may run; none means always.
	Allowed []DebounceWindow `yaml:"allowed"`
	Pos     document.Position
}

// DebounceWindow is a time of the week in which the rule may run.
type DebounceWindow struct {
	// Days are those on which the window begins, such as Mon or Mon-Fri; none means all.
	Days []Text `yaml:"days"`
	// From is a time of day, HH:MM.
	From Text `yaml:"from" schema:"required"`
	// To is a time of day, HH:MM; 24:00 is the end of the day.
	To Text `yaml:"to" schema:"required"`
	// TimeZone is a name such as Europe/Berlin; default UTC.
	TimeZone Text `yaml:"timeZone"`
}

// Rate bounds how often a rule runs for one primary object. An annotation of that object
// has the times.
type Rate struct {
	// Max is how many items the rule runs for in a period, or how often a rule without a
	// list runs: a number from 1 to 500, or an expression.
	Max Text `yaml:"max" schema:"required"`
	// Per is the period: a duration, such as 1m, or an expression, such as params.period.
	Per Text `yaml:"per" schema:"required"`
	Pos document.Position
}

// Action is one thing a rule does; exactly one of the fields that say what is
// set.
type Action struct {
	// Labels sets or removes labels.
	Labels *MapAction `yaml:"labels"`
	// Annotations sets or removes annotations.
	Annotations *MapAction `yaml:"annotations"`
	// Status are fields of the status of the primary object.
	Status []Entry[Template] `yaml:"status"`
	// Condition keeps one condition of an object.
	Condition *ConditionAction `yaml:"condition"`
	// Patch merges a value into an object, or keeps one entry of a list.
	Patch *PatchAction `yaml:"patch"`
	// Apply keeps an object as written, by server-side apply.
	Apply *Template `yaml:"apply"`
	// Once are paths of an applied object that are set when it is made and left
	// alone afterwards.
	Once []Text `yaml:"once"`
	// IfExists is refuse (default) or take: what an apply does about an object of someone else.
	IfExists Text `yaml:"ifExists" schema:"enum=refuse|take"`
	// Create makes an object that does not exist.
	Create *Template `yaml:"create"`
	// Delete deletes an object.
	Delete *DeleteAction `yaml:"delete"`
	// Scale sets how many replicas an object has, by the subresource scale.
	Scale *ScaleAction `yaml:"scale"`
	// Evict evicts a Pod, as far as PodDisruptionBudgets allow it.
	Evict *EvictAction `yaml:"evict"`
	// Approve approves or denies a CertificateSigningRequest, by the subresource approval.
	Approve *ApproveAction `yaml:"approve"`
	// Finalizer sets or removes a finalizer.
	Finalizer *FinalizerAction `yaml:"finalizer"`
	// Select chooses the best of many candidates.
	Select *SelectAction `yaml:"select"`
	// Remember keeps a value for the next evaluation.
	Remember *RememberAction `yaml:"remember"`
	// Event emits a Kubernetes Event.
	Event *EventAction `yaml:"event"`
	// Log writes a line to the log of the controller.
	Log *LogAction `yaml:"log"`
	// Fail makes the item fail with a message.
	Fail *Template `yaml:"fail"`
	Pos  document.Position
}

// MapAction sets or removes (null) labels or annotations.
type MapAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Set are values by key; null removes a key.
	Set []Entry[Template] `yaml:"set" schema:"required"`
	Pos document.Position
}

// Target names the object of an action: an expression that gives an object,
// or {apiVersion, kind, namespace, name}. Absent means the primary.
type Target struct {
	// Object is an expression.
	Object Text `yaml:"-"`

	// APIVersion is that of the kind, written out.
	APIVersion Text `yaml:"apiVersion" schema:"required"`
	// Kind is the kind of the object, written out.
	Kind Text `yaml:"kind" schema:"required"`
	// Namespace is that of the object, for a kind that has namespaces.
	Namespace Template `yaml:"namespace"`
	// Name is that of the object.
	Name Template `yaml:"name" schema:"required"`
	Pos  document.Position
}

// ConditionAction keeps one metav1.Condition of an object.
type ConditionAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Type is that of the condition.
	Type Template `yaml:"type" schema:"required"`
	// Status is True, False or Unknown.
	Status Template `yaml:"status"`
	// Reason is one word in CamelCase.
	Reason Template `yaml:"reason"`
	// Message is for people.
	Message Template `yaml:"message"`
	// Absent removes the condition.
	Absent bool `yaml:"absent"`
	// ObservedGeneration: track (default) writes when only it differs, keep
	// writes it along with another change.
	ObservedGeneration Text `yaml:"observedGeneration" schema:"enum=track|keep"`
	Pos                document.Position
}

// PatchAction merges a value into an object, or keeps one entry of a list.
type PatchAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Subresource is status, for fields of the status.
	Subresource Text `yaml:"subresource" schema:"enum=status"`
	// Value is merged into the object; null removes a field.
	Value Template `yaml:"value"`
	// List is the path of a list of which one entry is kept, such as spec.tolerations.
	List Text `yaml:"list"`
	// By are the fields that tell the entry from others.
	By []Entry[Template] `yaml:"by"`
	// Entry are the other fields of the entry.
	Entry Template `yaml:"entry"`
	// Remove takes the entry out of the list.
	Remove bool `yaml:"remove"`
	// Create makes the object when it does not exist.
	Create bool `yaml:"create"`
	// Lock none writes the object although it has changed since it was read.
	Lock Text `yaml:"lock" schema:"enum=none"`
	Pos  document.Position
}

// DeleteAction deletes an object.
type DeleteAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Propagation is Background (default), Foreground or Orphan.
	Propagation Text `yaml:"propagation" schema:"enum=Background|Foreground|Orphan"`
	// GracePeriod is a duration in whole seconds; absent is the kind's own.
	GracePeriod Template `yaml:"gracePeriod"`
	// IfUnchanged deletes the object only as it was decided on; default true.
	IfUnchanged *document.Node `yaml:"ifUnchanged"`
	Pos         document.Position
}

// ScaleAction sets how many replicas an object has, by the subresource scale.
type ScaleAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Replicas is a whole number of at least 0.
	Replicas Text `yaml:"replicas" schema:"required"`
	// Field is the path of the field that holds the number, of a custom kind whose CRD
	// names another one; default spec.replicas.
	Field Text `yaml:"field"`
	Pos   document.Position
}

// EvictAction evicts a Pod, as far as PodDisruptionBudgets allow it. A refused eviction
// is tried again later.
type EvictAction struct {
	// Of is the Pod; default the primary object.
	Of *Target `yaml:"of"`
	// GracePeriod is a duration in whole seconds; absent is the Pod's own.
	GracePeriod Template `yaml:"gracePeriod"`
	Pos         document.Position
}

// ApproveAction approves or denies a CertificateSigningRequest, by the subresource
// approval. One that is approved or denied already stays as it is.
type ApproveAction struct {
	// Of is the CertificateSigningRequest; default the primary object.
	Of *Target `yaml:"of"`
	// Signer is the spec.signerName of the requests, such as example.com/node, or
	// example.com/* for all signers of a domain. It is written out.
	Signer Text `yaml:"signer" schema:"required"`
	// Approved is true (default) to approve the request, false to deny it.
	Approved Text `yaml:"approved"`
	// Reason is one word in CamelCase.
	Reason Template `yaml:"reason"`
	// Message is for people.
	Message Template `yaml:"message"`
	Pos     document.Position
}

// FinalizerAction sets or removes a finalizer.
type FinalizerAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Name is that of the finalizer, such as example.com/cleanup.
	Name Template `yaml:"name" schema:"required"`
	// Absent removes the finalizer.
	Absent bool `yaml:"absent"`
	// Children says that the action was derived from the finalizer of the policy, which
	// holds the primary object until its children are gone.
	Children bool `yaml:"-"`
	Pos      document.Position
}

// RememberAction keeps a value for the next evaluation of this key.
type RememberAction struct {
	// Name is what memory.get takes.
	Name Template `yaml:"name" schema:"required"`
	// Value is what memory.get returns; null removes it.
	Value Template `yaml:"value" schema:"required"`
	Pos   document.Position
}

// EventAction emits a Kubernetes Event.
type EventAction struct {
	// Of is the object; default the primary object.
	Of *Target `yaml:"of"`
	// Type is Normal (default) or Warning.
	Type Text `yaml:"type" schema:"enum=Normal|Warning"`
	// Reason is one word in CamelCase.
	Reason Template `yaml:"reason" schema:"required"`
	// Message is for people.
	Message Template `yaml:"message" schema:"required"`
	Pos     document.Position
}

// LogAction writes a line to the controller's log.
type LogAction struct {
	// Level is that of the line, such as info.
	Level Text `yaml:"level"`
	// Message is the text of the line.
	Message Template `yaml:"message"`
	Pos     document.Position
}
