package run

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
)

// schemaPatience is how long a policy waits for the schemas of kinds that the
// server has just begun to serve: it publishes them a moment later.
const schemaPatience = 10 * time.Second

// awaitSchemas is clusterSchemas, tried again while the schemas are not there
// yet.
func (t *term) awaitSchemas(ctx context.Context, into *schema.Set, compiled *plan.Policy) error {
	deadline := time.Now().Add(schemaPatience)
	for {
		err := t.clusterSchemas(into, compiled)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(t.PollInterval):
		}
	}
}

// clusterSchemas adds the types of the policy's kinds as the cluster's own
// OpenAPI document gives them. Kinds that every cluster has are known.
func (t *term) clusterSchemas(into *schema.Set, compiled *plan.Policy) error {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(t.Config, t.http)
	if err != nil {
		return err
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return fmt.Errorf("reading /openapi/v3: %w", err)
	}
	done := map[string]bool{}
	for _, need := range reconcile.Needs(compiled) {
		gvk := groupVersionKind(need.Source.GVK)
		if _, builtin := schema.Builtin().Kind(need.Source.GVK); builtin || done[gvk.GroupVersion().String()] {
			continue
		}
		done[gvk.GroupVersion().String()] = true
		path, ok := paths["apis/"+gvk.GroupVersion().String()]
		if !ok {
			return fmt.Errorf("the cluster publishes no schemas for %s", gvk.GroupVersion())
		}
		text, err := path.Schema("application/json")
		if err != nil {
			return fmt.Errorf("reading the schemas of %s: %w", gvk.GroupVersion(), err)
		}
		if err := into.AddOpenAPI(text); err != nil {
			return err
		}
	}
	return known(into, compiled)
}

// known says which kind of the policy still has no schema.
func known(set *schema.Set, compiled *plan.Policy) error {
	for _, need := range reconcile.Needs(compiled) {
		if _, ok := set.Kind(need.Source.GVK); !ok {
			return fmt.Errorf("the cluster publishes no schema for %s", need.Source.GVK)
		}
	}
	return nil
}
