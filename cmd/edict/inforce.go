package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// inForce loads the policies of the namespace as they are in force, which the texts in the
// ConfigMaps need not be. Where that is so, it is said. With onlyRunning those of which
// nothing runs are left out.
func (f *worldFlags) inForce(ctx context.Context, typed compile.Overrides, known *schema.Set, errOut io.Writer) (*source.Bundle, error) {
	client, _, err := clusterClient(f.origin.kubeconfig)
	if err != nil {
		return nil, found("%v", err)
	}
	catalog, differing, err := configmap.ReadInForce(ctx, client, f.origin.namespace, typed)
	if err != nil {
		return nil, found("%v", err)
	}
	f.origin.sayDiffering(errOut, catalog, differing, f.onlyRunning)
	if f.onlyRunning {
		withoutIdle(catalog, differing)
	}
	schemas, err := withFolders(known, f.origin.schemas)
	if err != nil {
		return nil, err
	}
	return fromCatalog(catalog, schemas, errOut)
}

// sayDiffering says of which policies another revision is in force than the text, or none.
func (o *origin) sayDiffering(errOut io.Writer, c *source.Catalog, differing []configmap.Differing, onlyRunning bool) {
	for _, d := range differing {
		names := []string{plan.ParseID(d.Policy).Name}
		if u := c.Units[d.Policy]; u != nil {
			names = append(names, u.Document.Of)
		}
		if len(o.about) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(o.about, name) }) {
			fmt.Fprintln(errOut, "edict: "+differenceNote(d, onlyRunning))
		}
	}
}

// withoutIdle removes the policies of which nothing runs.
func withoutIdle(c *source.Catalog, differing []configmap.Differing) {
	for _, d := range differing {
		if d.Revision == "" {
			delete(c.Units, d.Policy)
			delete(c.Origins, d.Policy)
		}
	}
}

func differenceNote(d configmap.Differing, onlyRunning bool) string {
	if d.Revision == "" {
		then := "the text is taken"
		if onlyRunning {
			then = "it counts as not there"
		}
		return fmt.Sprintf("the policy %s: the text in the ConfigMap %s is not in force, and nothing else of the policy is (edict wait says why); %s", d.Policy, d.ConfigMap, then)
	}
	note := fmt.Sprintf("the policy %s: in force is the revision %s, not the text in the ConfigMap %s (edict wait says why)", d.Policy, d.Revision, d.ConfigMap)
	if d.Kept {
		return note + "; that revision is taken"
	}
	return note + "; the history does not have that revision, so the text is taken"
}
