package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// PolicyTest says what policies must decide, as data.
type PolicyTest struct {
	// APIVersion is edict.dev/v1alpha1.
	APIVersion Text `yaml:"apiVersion" schema:"required,enum=edict.dev/v1alpha1"`
	// Kind is PolicyTest.
	Kind Text `yaml:"kind" schema:"required,enum=PolicyTest"`
	// Metadata names the test.
	Metadata Metadata `yaml:"metadata"`
	// Spec has the cases.
	Spec TestSpec `yaml:"spec"`
	Pos  document.Position
}

// TestSpec is what the cases of a file share, and the cases.
type TestSpec struct {
	// Policies are files or folders, relative to the test's own folder or absolute.
	Policies []Text `yaml:"policies"`
	// Only are the names of the policies that run; default all that are there.
	Only []Text `yaml:"only"`
	// World are files or folders of manifests, relative to the test's own folder or absolute.
	World []Text `yaml:"world"`
	// Objects are manifests written in place.
	Objects []*document.Node `yaml:"objects"`
	// Params override the policies' params, by policy name.
	Params *document.Node `yaml:"params"`
	// Answers are what builtins with side effects answer.
	Answers *document.Node `yaml:"answers"`
	// Remembered is what keys remember at the start: {policy: {key: {name: value}}}.
	// {$timestamp: RFC 3339} and {$duration: 10m} are values of those types.
	Remembered *document.Node `yaml:"remembered"`
	// Now is the virtual start, RFC 3339.
	Now Text `yaml:"now"`
	// Cases are independent of each other.
	Cases []TestCase `yaml:"cases"`
}

// TestCase is one world and what must become of it.
type TestCase struct {
	// Name is shown in the result.
	Name Text `yaml:"name"`
	// Matrix runs the case once per row: $(NAME) stands for a value of the row.
	Matrix [][]Entry[*document.Node] `yaml:"matrix"`
	// Now is the virtual start of the case, RFC 3339.
	Now Text `yaml:"now"`
	// Objects are added to the shared world; one of the same identity
	// replaces it.
	Objects []*document.Node `yaml:"objects"`
	// Patch merges changes into objects of the world before the start.
	Patch []*document.Node `yaml:"patch"`
	// Without removes objects from the world before the start.
	Without []TestReference `yaml:"without"`
	// Params override the policies' params, by policy name.
	Params *document.Node `yaml:"params"`
	// Answers are what builtins with side effects return.
	Answers *document.Node `yaml:"answers"`
	// Steps happen one after another after the start.
	Steps []TestStep `yaml:"steps"`
	// Expect is what must hold at the end.
	Expect *Expectation `yaml:"expect"`
	Pos    document.Position
}

// TestReference names an object.
type TestReference struct {
	// APIVersion is that of the object.
	APIVersion Text `yaml:"apiVersion"`
	// Kind is that of the object.
	Kind Text `yaml:"kind"`
	// Namespace is that of the object.
	Namespace Text `yaml:"namespace"`
	// Name is that of the object.
	Name Text `yaml:"name"`
}

// TestStep is something that happens after the start; one field is set, and
// Expect may stand beside it.
type TestStep struct {
	// Apply creates an object, or replaces it.
	Apply *document.Node `yaml:"apply"`
	// Patch merges changes into an object.
	Patch *document.Node `yaml:"patch"`
	// Delete removes an object.
	Delete *TestReference `yaml:"delete"`
	// Advance is a duration by which the time moves on.
	Advance Text `yaml:"advance"`
	// Answers replaces what builtins with side effects return.
	Answers *document.Node `yaml:"answers"`
	// Fail is {verb, kind, name, times, code}: the next writes that match fail.
	Fail *document.Node `yaml:"fail"`
	// Restart kills the controller and starts it: what it remembered is lost.
	Restart bool `yaml:"restart"`
	// Stop ends the controller as a process does that is told to: what is
	// debounced is run first. Start starts it again.
	Stop bool `yaml:"stop"`
	// Start starts the controller again.
	Start bool `yaml:"start"`
	// Expect is what must hold after the step.
	Expect *Expectation `yaml:"expect"`
	Pos    document.Position
}

// Changes returns the changed entries of all expectations of the case.
func (c *TestCase) Changes() (out []*document.Node) {
	expectations := []*Expectation{c.Expect}
	for i := range c.Steps {
		expectations = append(expectations, c.Steps[i].Expect)
	}
	for _, e := range expectations {
		if e != nil {
			out = append(out, e.Changed...)
		}
	}
	return out
}

// Expectation is what must hold once no work is left.
type Expectation struct {
	// Effects are all that was written since the last expectation, in order,
	// each matched in part; an empty list means that nothing was.
	Effects *document.Node `yaml:"effects"`
	// Objects must exist and match in part.
	Objects []*document.Node `yaml:"objects"`
	// Not must exist, and each field must have another value: with null, it must be set.
	Not []*document.Node `yaml:"not"`
	// Changed must exist; each number is how often the field has changed since the case began.
	Changed []*document.Node `yaml:"changed"`
	// Absent must not exist.
	Absent []TestReference `yaml:"absent"`
	// Requeue are the times of the next evaluation of each primary object that has one,
	// RFC 3339, in order.
	Requeue *document.Node `yaml:"requeue"`
	// Errors are texts that the errors must contain, one each, in order.
	Errors *document.Node `yaml:"errors"`
	// Calls are the requests to builtins with side effects, matched in part.
	Calls *document.Node `yaml:"calls"`
	Pos   document.Position
}
