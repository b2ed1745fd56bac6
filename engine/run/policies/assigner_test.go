package policies

import (
	"testing"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestReportOrphans: an edit that takes the last child of a kind out of a policy is told, and no other.
func TestReportOrphans(t *testing.T) {
	t.Parallel()
	revision := func(kind string) *lifecycle.Revision {
		return &lifecycle.Revision{Plan: fixture.Compiled(t, "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: app}\nspec:\n  for: {apiVersion: v1, kind: Namespace}\n"+
			"  children: [{name: c, apply: {apiVersion: v1, kind: "+kind+", metadata: {name: c, namespace: \"${key.name}\"}}}]\n").Policies[0]}
	}
	var told []string
	a := &assigner{orphaned: func(id string, orphans plan.Orphans, _ *source.Unit) {
		told = append(told, id+" "+orphans.String())
	}}
	a.reportOrphans("app", nil, revision("ConfigMap"))
	a.reportOrphans("app", &lifecycle.Revision{}, revision("ConfigMap"))
	a.reportOrphans("app", revision("ConfigMap"), revision("ConfigMap"))
	a.reportOrphans("app", revision("ConfigMap"), revision("ServiceAccount"))
	if len(told) != 1 || told[0] != "app no longer decides about all objects of kind ConfigMap: those of the child c stay" {
		t.Errorf("%q", told)
	}
}
