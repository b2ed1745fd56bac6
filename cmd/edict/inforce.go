package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// inForce loads the policies of the namespace as they are in force, which the texts in the
// ConfigMaps need not be. Where that is so, it is said.
func (f *worldFlags) inForce(ctx context.Context, typed compile.Overrides, known *schema.Set, errOut io.Writer) (*source.Bundle, error) {
	config, err := clusterConfig(f.origin.kubeconfig)
	if err != nil {
		return nil, found("%v", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, found("%v", err)
	}
	catalog, differing, err := configmap.ReadInForce(ctx, client, f.origin.namespace, typed)
	if err != nil {
		return nil, found("%v", err)
	}
	for _, d := range differing {
		fmt.Fprintln(errOut, "edict: "+differenceNote(d))
	}
	schemas, err := withFolders(known, f.origin.schemas)
	if err != nil {
		return nil, err
	}
	return fromCatalog(catalog, schemas, errOut)
}

func differenceNote(d configmap.Differing) string {
	note := fmt.Sprintf("the policy %s: in force is the revision %s, not the text in the ConfigMap %s (edict wait says why)", d.Policy, d.Revision, d.ConfigMap)
	if d.Kept {
		return note + "; that revision is taken"
	}
	return note + "; the history does not have that revision, so the text is taken"
}
