package run

import (
	"fmt"

	"k8s.io/client-go/discovery"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
)

// clusterSchemas adds the types of the policy's kinds as the cluster's own
// OpenAPI document gives them. Kinds that every cluster has are known.
func (p *process) clusterSchemas(into *schema.Set, compiled *plan.Policy) error {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(p.Config, p.http)
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
	return nil
}
