package record_test

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

const drains = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: drains}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: note
      when: object.?spec.unschedulable.orValue(false) && !("drained" in object.metadata.?labels.orValue({}))
      do: [{labels: {set: {drained: "false"}}}]
`

// decided runs a policy on an object, and returns the records of the decisions.
func decided(ctx context.Context, policy, object string) (*record.Log, error) {
	file := load.Source{Path: "policy.yaml", Text: []byte(policy)}
	found, problems := load.Documents(file.Path, file.Text)
	if err := document.Join(problems); err != nil {
		return nil, err
	}
	bundle, err := source.Assemble([]*source.Unit{{Document: found.Policies[0], File: file}}, schema.Builtin(), nil, nil)
	if err != nil {
		return nil, err
	}
	objects, err := simulate.ParseObjects("object.yaml", []byte(object))
	if err != nil {
		return nil, err
	}
	log := &record.Log{Size: 10}
	simulate.New(ctx, simulate.Options{
		Policies: bundle.Policies, Schemas: bundle.Schemas, Objects: objects, Start: start, Records: log,
	}).Run(ctx, nil, 0)
	return log, bundle.Err()
}

// A record says why a decision was made: Render evaluates it again and returns
// each rule with the parts of its condition that decided.
func ExampleRecord_Render() {
	ctx := context.Background()
	log, err := decided(ctx, drains, "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {drained: x}}, spec: {unschedulable: true}}")
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := log.Last("drains", eval.Key{Name: "a"}).Render(ctx)
	for _, rule := range doc.Rules {
		fmt.Println(rule.Name, "was", rule.Outcome)
		for _, part := range rule.When.Parts {
			fmt.Println(part.Value, "by", part.Text)
		}
	}
	fmt.Println("it read", doc.Reads[0].Fields, "of", doc.Reads[0].Kind, doc.Reads[0].Name)
	// Output:
	// note was skipped
	// true by "drained" in object.metadata.?labels.orValue({})
	// it read [metadata.deletionTimestamp metadata.labels.drained spec.unschedulable] of Node a
}

// Replay evaluates a decision again, offline, from what it depended on then.
func ExampleRecord_Replay() {
	ctx := context.Background()
	log, err := decided(ctx, drains, "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {unschedulable: true}}")
	if err != nil {
		fmt.Println(err)
		return
	}
	records := log.Records() // the newest first
	first := records[len(records)-1]
	effect := first.Replay(ctx).Effects[0]
	fmt.Println(effect.Verb, effect.Target.Name(), value.Plain(effect.Patch))
	// Output: patch a map[metadata:map[labels:map[drained:false]]]
}
