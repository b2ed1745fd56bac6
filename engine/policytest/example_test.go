package policytest_test

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: owner}
spec:
  for: {apiVersion: v1, kind: Namespace}
  rules:
    - name: name an owner
      when: '!("owner" in object.metadata.?annotations.orValue({}))'
      do: [{annotations: {set: {owner: nobody}}}]
`

const tests = `
apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: owner}
spec:
  cases:
    - name: a namespace without an owner
      objects: [{apiVersion: v1, kind: Namespace, metadata: {name: a}}]
      expect:
        objects: [{apiVersion: v1, kind: Namespace, metadata: {name: a, annotations: {owner: nobody}}}]
    - name: an owner stays
      objects: [{apiVersion: v1, kind: Namespace, metadata: {name: a, annotations: {owner: me}}}]
      expect: {effects: []}
    - name: a case that fails
      objects: [{apiVersion: v1, kind: Namespace, metadata: {name: a}}]
      expect: {absent: [{apiVersion: v1, kind: Namespace, name: a}]}
`

// Tests run against policies that are in no folder. Run reads folders.
func ExampleRunEmbedded() {
	file := load.Source{Path: "owner.yaml", Text: []byte(policy)}
	found, _ := load.Documents(file.Path, file.Text)
	unit := &source.Unit{Document: found.Policies[0], File: file}

	report, err := policytest.RunEmbedded(context.Background(), policytest.Embedded{
		Tests:   []load.Source{{Path: "owner.test.yaml", Text: []byte(tests)}},
		Units:   []*source.Unit{unit},
		Subject: unit,
		Schemas: schema.Builtin(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range report.Cases {
		fmt.Println(c.Name, c.Failures)
	}
	fmt.Println(report.Failed(), "failed")
	// Output:
	// a namespace without an owner []
	// an owner stays []
	// a case that fails [owner.test.yaml:16:65: Namespace a should not exist]
	// 1 failed
}
