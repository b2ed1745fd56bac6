package simulate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

const fresh = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: fresh}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules:
    - name: mark the new ones
      when: grace.holds(object.metadata.creationTimestamp, duration("1h"))
      do: [{labels: {set: {fresh: "true"}}}]
    - name: unmark the others
      when: elapsed(object.metadata.creationTimestamp, duration("1h"))
      do: [{labels: {set: {fresh: null}}}]
`

const manifests = `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: default, name: old, creationTimestamp: "2026-03-01T10:00:00Z", labels: {fresh: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: default, name: new, creationTimestamp: "2026-03-01T11:45:00Z"}
`

// compiled compiles the policies of a file.
func compiled(text string) (*source.Bundle, error) {
	file := load.Source{Path: "policy.yaml", Text: []byte(text)}
	found, problems := load.Documents(file.Path, file.Text)
	if err := document.Join(problems); err != nil {
		return nil, err
	}
	var units []*source.Unit
	for _, p := range found.Policies {
		units = append(units, &source.Unit{Document: p, File: file})
	}
	bundle, err := source.Assemble(units, schema.Builtin(), nil, nil)
	if err != nil {
		return nil, err
	}
	return bundle, bundle.Err()
}

// A policy runs on two manifests: at first both are decided about, an hour later
// only the one whose time is over.
func Example() {
	ctx := context.Background()
	bundle, err := compiled(fresh)
	if err != nil {
		fmt.Println(err)
		return
	}
	objects, err := simulate.ParseObjects("manifests.yaml", []byte(manifests))
	if err != nil {
		fmt.Println(err)
		return
	}
	sim := simulate.New(ctx, simulate.Options{
		Policies: bundle.Policies, Schemas: bundle.Schemas, Objects: objects,
		Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	})
	sim.Run(ctx, nil, time.Hour) // no time passes but on the clock of the simulation
	for _, e := range sim.Result().Effects {
		fmt.Printf("%s %s %s: %s, %v\n", e.At.Format(time.TimeOnly), e.Verb, e.Target.Name, e.Rule, e.Patch)
	}
	// Output:
	// 12:00:00 patch new: mark the new ones, map[metadata:map[labels:map[fresh:true]]]
	// 12:00:00 patch old: unmark the others, map[metadata:map[labels:map[fresh:<nil>]]]
	// 12:45:00 patch new: unmark the others, map[metadata:map[labels:map[fresh:<nil>]]]
}
