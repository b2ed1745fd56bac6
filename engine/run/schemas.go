package run

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
)

// schemaPatience is how long a policy waits for the schemas of kinds that the
// server has just begun to serve: it publishes them a moment later.
const schemaPatience = 10 * time.Second

// missing says which kind the cluster does not serve; nil when it serves all.
func (p *process) missing(compiled *plan.Policy) error {
	for _, need := range reconcile.Needs(compiled) {
		gvk := groupVersionKind(need.Source.GVK)
		_, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("the cluster does not serve %s", need.Source.GVK)
		}
		if err != nil {
			return fmt.Errorf("asking for %s: %w", need.Source.GVK, err)
		}
	}
	return nil
}

func groupVersionKind(gvk schema.GVK) kschema.GroupVersionKind {
	return kschema.FromAPIVersionAndKind(gvk.APIVersion, gvk.Kind)
}

// awaitSchemas returns the types that the cluster publishes, asked for again
// while those of some kind are not there yet.
func (p *process) awaitSchemas(ctx context.Context, compiled *plan.Policy) (*schema.Set, error) {
	deadline := time.Now().Add(schemaPatience)
	for {
		set, err := p.clusterSchemas(compiled)
		if err == nil {
			err = unknown(set, compiled)
		}
		if err == nil || time.Now().After(deadline) {
			return set, err
		}
		select {
		case <-ctx.Done():
			return set, ctx.Err()
		case <-time.After(p.PollInterval):
		}
	}
}

// clusterSchemas returns the types of the policy's kinds as the cluster's own
// OpenAPI document gives them, as far as it does. Kinds that every cluster has
// are known.
func (p *process) clusterSchemas(compiled *plan.Policy) (*schema.Set, error) {
	set := schema.NewSet(p.schemas)
	var paths map[string]openapi.GroupVersion
	done := map[string]bool{}
	for _, need := range reconcile.Needs(compiled) {
		group := groupVersionKind(need.Source.GVK).GroupVersion().String()
		if _, builtin := schema.Builtin().Kind(need.Source.GVK); builtin || done[group] {
			continue
		}
		done[group] = true
		var err error
		if paths == nil {
			if paths, err = p.openapi.Paths(); err != nil {
				return set, fmt.Errorf("reading /openapi/v3: %w", err)
			}
		}
		known, err := p.documents.of(group, paths["apis/"+group])
		if err != nil {
			return set, err
		}
		set.AddAll(known)
	}
	return set, nil
}

// unknown says which kind of the policy has no schema.
func unknown(set *schema.Set, compiled *plan.Policy) error {
	for _, need := range reconcile.Needs(compiled) {
		if _, ok := set.Kind(need.Source.GVK); !ok {
			return fmt.Errorf("the cluster publishes no schema for %s", need.Source.GVK)
		}
	}
	return nil
}
