// Package v1alpha1 holds the documents of the API group edict.dev/v1alpha1:
// Policy, which decides, PolicyTest, which says what a policy must decide, and
// Allowances, in which an installation opens what is protected.
//
// The types only say which fields exist. Every text keeps its place in the
// file, so that a later stage can point at it. Fields of type Text hold a raw CEL
// expression or a plain text, fields of type Template hold YAML in which
// ${expression} stands for a value.
package v1alpha1

// The API group, its version and its kinds.
const (
	APIVersion     = "edict.dev/v1alpha1"
	KindPolicy     = "Policy"
	KindPolicyTest = "PolicyTest"
	KindAllowances = "Allowances"
)
