package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Allowances open protected fields and kinds for policies. They belong to the
// installation, not to the policies: who may change a policy cannot thereby
// change what it may do.
type Allowances struct {
	// APIVersion is edict.dev/v1alpha1.
	APIVersion Text `yaml:"apiVersion" schema:"required,enum=edict.dev/v1alpha1"`
	// Kind is Allowances.
	Kind Text `yaml:"kind" schema:"required,enum=Allowances"`
	// Metadata names the document.
	Metadata Metadata `yaml:"metadata"`
	// Spec has the allowances.
	Spec AllowancesSpec `yaml:"spec"`
	Pos  document.Position
}

// AllowancesSpec is the body of Allowances.
type AllowancesSpec struct {
	// Allow lists the allowances.
	Allow []Allowance `yaml:"allow"`
}

// Allowance opens some of a kind for one policy.
type Allowance struct {
	// Policy is the name of the policy.
	Policy Text `yaml:"policy" schema:"required"`
	// APIGroup is the group of the kind, "" the core group. Where it is left out
	// the allowance holds for kinds of that name in every group.
	APIGroup Text `yaml:"apiGroup"`
	// ForKind is the kind that is opened, such as Pod.
	ForKind Text `yaml:"kind" schema:"required"`
	// Fields are paths such as spec.serviceAccountName, "create" and "delete" for
	// making and deleting objects, "scale" and "evict" for these actions, "approve:" and
	// a signer (example.com/node, or example.com/* for a domain) for approving requests,
	// "read" and "values" for Secrets, or "*" for everything of the kind.
	Fields []Text `yaml:"fields"`
	// Obeys are fields that decide what the policy writes of what is protected, as edict
	// allowances prints them. While its PolicySet is pinned, only policies of pinned sets may
	// write them.
	Obeys []Text `yaml:"obeys"`
	// Namespaces are those that it holds in; none means everywhere.
	Namespaces []Text `yaml:"namespaces"`
	Pos        document.Position
}
