// Package discovery returns how a cluster serves kinds, and which types it publishes
// for them.
package discovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
)

// Definitions is the resource of CRDs.
var Definitions = kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Kinds are the kinds that a cluster serves.
type Kinds struct {
	mapper  meta.RESTMapper
	openapi openapi.Client
	// known are the types of kinds that no cluster needs to publish.
	known *schema.Set
	// poll is the interval between requests for types that are not published yet.
	poll      time.Duration
	documents documents
}

// New returns the kinds of a cluster. Known are the types of files, poll is the
// interval between requests for types that are not published yet.
func New(mapper meta.RESTMapper, client openapi.Client, known *schema.Set, poll time.Duration) *Kinds {
	return &Kinds{mapper: mapper, openapi: client, known: known, poll: poll}
}

// Known returns the types of files and of the kinds that every cluster has.
func (k *Kinds) Known() *schema.Set { return k.known }

// Mapping returns how the cluster serves a kind.
func (k *Kinds) Mapping(gvk schema.GVK) (*meta.RESTMapping, error) {
	kind := GroupVersionKind(gvk)
	return k.mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// Resource returns the resource of a kind; false if the cluster does not serve it.
func (k *Kinds) Resource(gvk schema.GVK) (schema.Resource, bool) { return ResourceOf(k.mapper, gvk) }

// ResourceOf returns the resource of a kind; false if a cluster does not serve it.
func ResourceOf(mapper meta.RESTMapper, gvk schema.GVK) (schema.Resource, bool) {
	kind := GroupVersionKind(gvk)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.Resource{}, false
	}
	return schema.Resource{Name: mapping.Resource.Resource, Namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}, true
}

// SchemaTimeout is how long a policy waits for the schemas of kinds that the
// server has just begun to serve: it publishes them a moment later.
const SchemaTimeout = 10 * time.Second

// ErrNotServed reports a kind that the cluster does not serve.
var ErrNotServed = errors.New("the cluster does not serve")

// Missing returns an error about a kind that a policy needs and the cluster does not
// serve; nil if it serves all.
func (k *Kinds) Missing(compiled *plan.Policy) error {
	for _, need := range readmodel.Requirements(compiled) {
		_, err := k.Mapping(need.Source.GVK)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("%w %s", ErrNotServed, need.Source.GVK)
		}
		if err != nil {
			return fmt.Errorf("asking for %s: %w", need.Source.GVK, err)
		}
	}
	return nil
}

// GroupVersionKind returns a kind as client-go names it.
func GroupVersionKind(gvk schema.GVK) kschema.GroupVersionKind {
	return kschema.FromAPIVersionAndKind(gvk.APIVersion, gvk.Kind)
}

// AwaitSchemas returns the types that the cluster publishes of the kinds of a policy.
// It repeats the request for a while if some are not published yet.
func (k *Kinds) AwaitSchemas(ctx context.Context, compiled *plan.Policy) (*schema.Set, error) {
	deadline := time.Now().Add(SchemaTimeout)
	for {
		set, err := k.Schemas(compiled)
		if err == nil {
			err = Unpublished(set, compiled)
		}
		if err == nil || time.Now().After(deadline) {
			return set, err
		}
		select {
		case <-ctx.Done():
			return set, ctx.Err()
		case <-time.After(k.poll):
		}
	}
}

// Schemas returns the types of the kinds of a policy from the OpenAPI document of the
// cluster, as far as it has them. Kinds that every cluster has are known.
func (k *Kinds) Schemas(compiled *plan.Policy) (*schema.Set, error) {
	set := schema.NewSet(k.known)
	var paths map[string]openapi.GroupVersion
	done := map[string]bool{}
	for _, need := range readmodel.Requirements(compiled) {
		group := GroupVersionKind(need.Source.GVK).GroupVersion().String()
		if _, builtin := schema.Builtin().Kind(need.Source.GVK); builtin || done[group] {
			continue
		}
		done[group] = true
		var err error
		if paths == nil {
			if paths, err = k.openapi.Paths(); err != nil {
				return set, fmt.Errorf("reading /openapi/v3: %w", err)
			}
		}
		known, err := k.documents.of(group, paths["apis/"+group])
		if err != nil {
			return set, err
		}
		set.Join(known)
	}
	return set, nil
}

// Unpublished returns an error about a kind of a policy that has no types in a set.
func Unpublished(set *schema.Set, compiled *plan.Policy) error {
	for _, need := range readmodel.Requirements(compiled) {
		if _, ok := set.Kind(need.Source.GVK); !ok {
			return fmt.Errorf("the cluster publishes no schema for %s", need.Source.GVK)
		}
	}
	return nil
}
