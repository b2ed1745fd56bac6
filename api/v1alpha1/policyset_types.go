package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PolicySet runs the policies of a ConfigMap.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="edict.dev/crd-version=1"
// +kubebuilder:resource:path=policysets,shortName=pset,categories=edict
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Objects",type=integer,JSONPath=`.status.objects`
// +kubebuilder:printcolumn:name="Failing",type=integer,JSONPath=`.status.failing`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Enforcing",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Enforcing")].status`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52",message="the name of a PolicySet has at most 52 characters"
type PolicySet struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec PolicySetSpec `json:"spec,omitzero"`
	// status is the observed state.
	// +default={"observedGeneration":-1}
	// +optional
	Status PolicySetStatus `json:"status,omitzero"` //nolint:kubeapilinter // as in all kinds
}

// PolicySetList is a list of PolicySets.
//
// +kubebuilder:object:root=true
type PolicySetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PolicySet `json:"items"`
}

// Mode is the effect of the decisions of a policy.
//
// +kubebuilder:validation:Enum=Enforce;Shadow;Disabled
type Mode string

// The modes of a policy.
const (
	// ModeEnforce writes what is decided.
	ModeEnforce Mode = "Enforce"
	// ModeShadow decides, and writes nothing.
	ModeShadow Mode = "Shadow"
	// ModeDisabled decides nothing.
	ModeDisabled Mode = "Disabled"
)

// PolicySetSpec is the desired state of a PolicySet.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pinned) || !self.pinned || has(self.source.digest)",message="a pinned set needs source.digest",fieldPath=".source.digest",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.shadowOf) || !has(self.mode) || self.mode == 'Shadow'",message="shadowOf needs the mode Shadow",fieldPath=".shadowOf"
type PolicySetSpec struct {
	// source is the ConfigMap with the policies.
	// +required
	Source Source `json:"source,omitzero"`
	// pinned restricts changes of the text, the params and the mode towards Enforce to those who
	// may authorize policysets. It needs source.digest.
	// +optional
	Pinned *bool `json:"pinned,omitempty"`
	// mode is the effect of the decisions: Enforce writes them, Shadow only reports them, Disabled makes
	// none.
	// +default="Shadow"
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// modes are the modes of single policies, by name. Of the mode in the text of a policy, that of
	// the set and this one, the narrowest holds: Disabled before Shadow before Enforce.
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	Modes map[string]Mode `json:"modes,omitempty"`
	// suspend stops all writes. Decisions continue.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// params are values for the params of policies, by the name of the policy. They override
	// params.yaml in the ConfigMap.
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	Params map[string]Values `json:"params,omitempty"` //nolint:kubeapilinter // the contract of the params of policies: each has its own
	// allow lists the protected writes and reads that are allowed; edict allowances prints what
	// policies need.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Allow []Allowance `json:"allow,omitempty"`
	// serviceAccountName is the ServiceAccount that the policies write as. The default is the prefix
	// of the installation followed by the name of the set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// shadowOf is the set whose decisions are compared with the decisions of this one. It needs the
	// mode Shadow.
	// +optional
	ShadowOf *LocalReference `json:"shadowOf,omitempty"`
	// holds suspend writes of single policies, rules or objects.
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	// +optional
	Holds []Hold `json:"holds,omitempty"`
	// resumedAt ends the pauses that began before it.
	// +optional
	ResumedAt *metav1.Time `json:"resumedAt,omitempty"`
	// rollout rolls an edit out in steps.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`
}

// Values are values by name.
//
// +kubebuilder:validation:MaxProperties=256
type Values map[string]apiextensionsv1.JSON //nolint:kubeapilinter // a policy names its own params

// LocalReference names an object in the namespace of the set.
type LocalReference struct {
	// name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// Source is the text of policies.
type Source struct {
	// configMap is in the namespace of the set. It has policies and tests in keys *.yaml, modules in
	// *.rego and values of params in params.yaml.
	// +required
	ConfigMap LocalReference `json:"configMap,omitzero"`
	// digest selects the active text: the ConfigMap's if it has this digest, else one from the
	// history. Without a digest, the ConfigMap's text is active.
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=71
	// +optional
	Digest string `json:"digest,omitempty"`
}

// Allowance opens fields of a kind for one policy, or names fields that it obeys.
//
// +kubebuilder:validation:XValidation:rule="has(self.fields) || has(self.obeys)",message="an allowance needs fields or obeys"
type Allowance struct {
	// policy is the name of the policy.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Policy string `json:"policy,omitempty"`
	// apiGroup is the group of the kind: "" is the core group, "*" any.
	// +kubebuilder:validation:MaxLength=253
	// +required
	APIGroup *string `json:"apiGroup,omitempty"`
	// kind is the kind that is opened, such as Pod.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind,omitempty"`
	// fields are paths such as spec.serviceAccountName, which open what is below them, and actions:
	// create, delete, scale, evict, approve:SIGNER, and read and values of Secrets; "*" is everything.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	Fields []string `json:"fields,omitempty"`
	// namespaces restrict the allowance; empty means all namespaces.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`
	// obeys are fields whose values determine the protected writes of the policy. While the set is
	// pinned, policies of other sets may not write them.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	Obeys []string `json:"obeys,omitempty"`
}

// Hold suspends writes.
type Hold struct {
	// name is unique among the holds.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name,omitempty"`
	// policy is the policy that is held; empty means all policies of the set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Policy string `json:"policy,omitempty"`
	// rule narrows it to a rule.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Rule string `json:"rule,omitempty"`
	// key narrows it to an object: NAMESPACE/NAME, or NAME.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +optional
	Key string `json:"key,omitempty"`
	// reason is the reason, for those who read it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Reason string `json:"reason,omitempty"`
	// by is the person who holds it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	By string `json:"by,omitempty"`
	// until is the end of the hold.
	// +required
	Until *metav1.Time `json:"until,omitempty"`
}

// Rollout rolls an edit out in steps.
//
// +kubebuilder:validation:XValidation:rule="self.steps.filter(s, has(s.percent)).map(s, s.percent).isSorted()",message="percent must not fall from step to step",fieldPath=".steps"
type Rollout struct {
	// steps are the shares of objects, one after the other. All objects follow the last.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +required
	Steps []Step `json:"steps,omitempty"` //nolint:kubeapilinter // a union: exactly one field is set
	// interval is the duration of a step.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be a duration above 0, such as 10m"
	// +required
	Interval string `json:"interval,omitempty"`
	// stop ends the rollout; the previous text stays active.
	// +optional
	Stop *Stop `json:"stop,omitempty"`
}

// Step is a share of objects.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type Step struct {
	// selector selects objects by labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// percent is a share of the objects, chosen by a hash.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Percent *int32 `json:"percent,omitempty"`
}

// Stop ends a rollout.
type Stop struct {
	// errors is the number of objects that may fail and did not fail before.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Errors *int32 `json:"errors,omitempty"`
	// disagreements is the number or percentage of objects for which the decisions of the new and
	// the active text may differ.
	// +kubebuilder:validation:Pattern=`^[0-9]{1,9}%?$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +optional
	Disagreements string `json:"disagreements,omitempty"`
}

// PolicySetStatus is the observed state of a PolicySet.
type PolicySetStatus struct {
	// conditions are Ready, Enforcing, Accepted, Reconciling, Stalled, Held, Degraded and
	// RestartSafe.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation of the spec that the status is about; -1 before the first.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"` //nolint:kubeapilinter // as in all kinds
	// source is the text that the conditions are about.
	// +optional
	Source *ObservedSource `json:"source,omitempty"`
	// revision is the active text: the first digits of its digest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Revision string `json:"revision,omitempty"`
	// objects is the number of objects that the policies decide about.
	// +optional
	Objects *int64 `json:"objects,omitempty"`
	// failing is the number of objects for which a decision or a write fails.
	// +optional
	Failing *int64 `json:"failing,omitempty"`
	// withheld is the number of objects with a suspended write.
	// +optional
	Withheld *int64 `json:"withheld,omitempty"`
	// finalizers are kinds of objects with finalizers of the policies, which are removed before the
	// set is.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Finalizers []Finalizer `json:"finalizers,omitempty"`
	// controllerVersion is the version of the controller.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ControllerVersion string `json:"controllerVersion,omitempty"`
	// policies are the policies of the set.
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=name
	// +optional
	Policies []PolicyStatus `json:"policies,omitempty"`
}

// ObservedSource is the text as it was read.
type ObservedSource struct {
	// name is the name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`
	// resourceVersion is the resource version of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// digest is the digest of its text.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=71
	// +optional
	Digest string `json:"digest,omitempty"`
}

// Finalizer is one that policies have set on objects of a kind.
type Finalizer struct {
	// apiGroup is the group of the kind; "" is the core group.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	APIGroup *string `json:"apiGroup,omitempty"`
	// kind is the kind of the objects.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind,omitempty"`
	// namespace is the only namespace with such objects; empty means all.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name is the finalizer; "*" are those whose names are computed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +required
	Name string `json:"name,omitempty"`
	// count is the number of objects that have it.
	// +optional
	Count *int64 `json:"count,omitempty"`
}

// PolicyStatus is the state of one policy.
type PolicyStatus struct {
	// name is the name of the policy.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
	// mode is the narrowest of its modes.
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// revision is the text of the policy: the first digits of its digest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Revision string `json:"revision,omitempty"`
	// lastGood is the text that was last active: the first digits of its digest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	LastGood string `json:"lastGood,omitempty"`
	// reason is the state in one word, as the reason of Ready.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`
	// objects is the number of objects that it decides about.
	// +optional
	Objects *int64 `json:"objects,omitempty"`
	// failing is the number of objects for which a decision or a write fails.
	// +optional
	Failing *int64 `json:"failing,omitempty"`
	// withheld is the number of objects with a suspended write.
	// +optional
	Withheld *int64 `json:"withheld,omitempty"`
	// disagreements is the number of objects for which its decision differs from the enforced one.
	// +optional
	Disagreements *int64 `json:"disagreements,omitempty"`
	// message is the error, or the reason of the wait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// pause is set while the policy is paused by a limit.
	// +optional
	Pause *Pause `json:"pause,omitempty"`
	// rollout is set while an edit is rolled out.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`
}

// Pause is the state of a policy that a limit has stopped.
type Pause struct {
	// since is the time of the beginning.
	// +required
	Since *metav1.Time `json:"since,omitempty"`
	// reason is the limit in one word.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`
	// rule is the rule that met the limit.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Rule string `json:"rule,omitempty"`
}

// RolloutStatus is the progress of an edit.
type RolloutStatus struct {
	// revision is the text that is rolled out.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Revision string `json:"revision,omitempty"`
	// step is the step that it is in, from 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Step int32 `json:"step,omitempty"`
	// steps is the number of steps.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Steps int32 `json:"steps,omitempty"`
	// since is the time at which the step began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}
