package document_test

import (
	"fmt"

	"github.com/edict-dev/edict/engine/document"
)

const manifest = `kind: Policy
spec:
  limits: {window: 1m}
`

// A node knows where it was written.
func ExampleParse() {
	var problems document.Problems
	nodes := document.Parse("policy.yaml", []byte(manifest), &problems)
	window := nodes[0].Get("spec").Get("limits").Get("window")
	fmt.Println(window.Text, "at", window.Pos)
	fmt.Println(problems.HasErrors())
	// Output:
	// 1m at policy.yaml:3:20
	// false
}

// A problem points at its place, and says how to fix it. At returns a place inside
// a text, such as that of a part of an expression.
func ExampleProblems_Hintf() {
	var problems document.Problems
	window := document.Parse("policy.yaml", []byte(manifest), &problems)[0].Get("spec").Get("limits").Get("window")
	problems.Hintf(window.At(1), "write a duration such as 1m30s", "unknown unit %q", "x")
	for _, p := range problems.List() {
		p.Source = window.SourceLine(p.Line)
		fmt.Println(p.Pretty())
	}
	// Output:
	// policy.yaml:3:21: error: unknown unit "x"
	//       limits: {window: 1m}
	//                         ^
	//     write a duration such as 1m30s
}

func ExampleDidYouMean() {
	fmt.Println(document.DidYouMean("lables", []string{"annotations", "labels", "status"}))
	// Output: did you mean "labels"?
}
