package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Rule is one step of the decision: when it holds, do.
type Rule struct {
	Name      Text       `yaml:"name"`
	When      Text       `yaml:"when"`
	ForEach   Text       `yaml:"forEach"`
	As        Text       `yaml:"as"`
	Variables []Variable `yaml:"variables"`
	Do        []Action   `yaml:"do"`
	// Cases is a decision table: the first that matches is done.
	Cases   []Case   `yaml:"cases"`
	OnError []Action `yaml:"onError"`
	// ContinueOnError lets later rules run although an item failed.
	ContinueOnError bool `yaml:"continueOnError"`
	// Finally makes the rule run also after a rule that failed.
	Finally bool `yaml:"finally"`
	// Stop ends the evaluation after this rule.
	Stop     bool      `yaml:"stop"`
	Debounce *Debounce `yaml:"debounce"`
	Pos      document.Position
}

// Case is one row of a decision table.
type Case struct {
	Name Text     `yaml:"name"`
	When Text     `yaml:"when"`
	Do   []Action `yaml:"do"`
	Pos  document.Position
}

// Debounce delays a rule so that it runs at most once per window and key.
type Debounce struct {
	Key         Template         `yaml:"key"`
	Window      Template         `yaml:"window"`
	MaxInFlight Template         `yaml:"maxInFlight"`
	Allowed     []DebounceWindow `yaml:"allowed"`
	Pos         document.Position
}

// DebounceWindow is a time of the week in which the rule may run.
type DebounceWindow struct {
	Days     []Text `yaml:"days"`
	From     Text   `yaml:"from"`
	To       Text   `yaml:"to"`
	TimeZone Text   `yaml:"timeZone"`
}

// Action is one thing a rule does; exactly one of the fields that say what is
// set.
type Action struct {
	Labels      *MapAction        `yaml:"labels"`
	Annotations *MapAction        `yaml:"annotations"`
	Status      []Entry[Template] `yaml:"status"`
	Condition   *ConditionAction  `yaml:"condition"`
	Patch       *PatchAction      `yaml:"patch"`
	Apply       *Template         `yaml:"apply"`
	// Once are paths of an applied object that are set when it is made and left
	// alone afterwards; IfExists is refuse (default) or take.
	Once      []Text           `yaml:"once"`
	IfExists  Text             `yaml:"ifExists"`
	Create    *Template        `yaml:"create"`
	Delete    *DeleteAction    `yaml:"delete"`
	Finalizer *FinalizerAction `yaml:"finalizer"`
	Select    *SelectAction    `yaml:"select"`
	Remember  *RememberAction  `yaml:"remember"`
	Event     *EventAction     `yaml:"event"`
	Log       *LogAction       `yaml:"log"`
	Fail      *Template        `yaml:"fail"`
	Pos       document.Position
}

// MapAction sets or removes (null) labels or annotations.
type MapAction struct {
	Of  *Target           `yaml:"of"`
	Set []Entry[Template] `yaml:"set"`
	Pos document.Position
}

// Target names the object of an action: an expression that gives an object,
// or {apiVersion, kind, namespace, name}. Absent means the primary.
type Target struct {
	// Object is an expression.
	Object Text `yaml:"-"`

	APIVersion Text     `yaml:"apiVersion"`
	Kind       Text     `yaml:"kind"`
	Namespace  Template `yaml:"namespace"`
	Name       Template `yaml:"name"`
	Pos        document.Position
}

// ConditionAction keeps one metav1.Condition of an object.
type ConditionAction struct {
	Of      *Target  `yaml:"of"`
	Type    Template `yaml:"type"`
	Status  Template `yaml:"status"`
	Reason  Template `yaml:"reason"`
	Message Template `yaml:"message"`
	// Absent removes the condition.
	Absent bool `yaml:"absent"`
	// ObservedGeneration: track (default) writes when only it differs, keep
	// writes it along with another change.
	ObservedGeneration Text `yaml:"observedGeneration"`
	Pos                document.Position
}

// PatchAction merges a value into an object, or keeps one entry of a list.
type PatchAction struct {
	Of          *Target           `yaml:"of"`
	Subresource Text              `yaml:"subresource"`
	Value       Template          `yaml:"value"`
	List        Text              `yaml:"list"`
	By          []Entry[Template] `yaml:"by"`
	Entry       Template          `yaml:"entry"`
	Remove      bool              `yaml:"remove"`
	Create      bool              `yaml:"create"`
	// Lock none writes the object although it has changed since it was read.
	Lock Text `yaml:"lock"`
	Pos  document.Position
}

// DeleteAction deletes an object.
type DeleteAction struct {
	Of *Target `yaml:"of"`
	// Propagation is Background (default), Foreground or Orphan.
	Propagation Text `yaml:"propagation"`
	// GracePeriod is a duration in whole seconds; absent is the kind's own.
	GracePeriod Template `yaml:"gracePeriod"`
	// IfUnchanged deletes the object only as it was decided on; default true.
	IfUnchanged *document.Node `yaml:"ifUnchanged"`
	Pos         document.Position
}

// FinalizerAction sets or removes a finalizer.
type FinalizerAction struct {
	Of     *Target  `yaml:"of"`
	Name   Template `yaml:"name"`
	Absent bool     `yaml:"absent"`
	Pos    document.Position
}

// RememberAction keeps a value for the next evaluation of this key.
type RememberAction struct {
	Name  Template `yaml:"name"`
	Value Template `yaml:"value"`
	Pos   document.Position
}

// EventAction emits a Kubernetes Event.
type EventAction struct {
	Of      *Target  `yaml:"of"`
	Type    Text     `yaml:"type"`
	Reason  Template `yaml:"reason"`
	Message Template `yaml:"message"`
	Pos     document.Position
}

// LogAction writes a line to the controller's log.
type LogAction struct {
	Level   Text     `yaml:"level"`
	Message Template `yaml:"message"`
	Pos     document.Position
}
