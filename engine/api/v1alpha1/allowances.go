package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Allowances open protected fields and kinds for policies. They belong to the
// installation, not to the policies: who may change a policy cannot thereby
// change what it may do.
type Allowances struct {
	APIVersion Text           `yaml:"apiVersion"`
	Kind       Text           `yaml:"kind"`
	Metadata   Metadata       `yaml:"metadata"`
	Spec       AllowancesSpec `yaml:"spec"`
	Pos        document.Position
}

// AllowancesSpec is the body of Allowances.
type AllowancesSpec struct {
	Allow []Allowance `yaml:"allow"`
}

// Allowance opens some of a kind for one policy.
type Allowance struct {
	Policy  Text `yaml:"policy"`
	ForKind Text `yaml:"kind"`
	// Fields are paths such as spec.serviceAccountName, "delete" for deleting
	// objects, or "*" for everything of the kind.
	Fields []Text `yaml:"fields"`
	Pos    document.Position
}
