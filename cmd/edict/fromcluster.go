package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

func (o *origin) fromCluster(ctx context.Context, errOut io.Writer) (*policySet, error) {
	catalog, err := o.catalog(ctx, errOut)
	if err != nil {
		return nil, err
	}
	schemas, err := withFolders(nil, o.schemas)
	if err != nil {
		return nil, err
	}
	out, err := compiled(catalog, schemas, errOut)
	if err != nil {
		return nil, err
	}
	out.where = "in the PolicySets of the namespace " + o.Context.Namespace
	if out.resources, err = served(o.config, schemas); err != nil {
		return nil, found("%v", err)
	}
	return out, nil
}

// catalog reads the policies of the PolicySets of the namespace, with the present texts or those that
// are active.
func (o *origin) catalog(ctx context.Context, errOut io.Writer) (*source.Catalog, error) {
	typed, err := o.overrides()
	if err != nil {
		return nil, err
	}
	if err := o.home(ctx, o.about...); err != nil {
		return nil, err
	}
	all, err := o.list(ctx)
	if err != nil {
		return nil, err
	}
	var contents []*source.Contents
	for _, s := range all {
		if !o.inForce {
			contents = append(contents, s.present())
			continue
		}
		active, notes := s.active(o.onlyRunning)
		contents = append(contents, active)
		for _, note := range notes {
			if len(o.about) == 0 || slices.ContainsFunc(o.about, func(name string) bool { return strings.Contains(note, name) }) {
				fmt.Fprintln(errOut, "edict: "+note)
			}
		}
	}
	return source.NewCatalog(contents, typed), nil
}

// adopt returns a function that puts a policy of a file in the place of that of the same name in a set
// of the namespace, with the params of the set. It is nil without a namespace.
func (o *origin) adopt(ctx context.Context) (func(*source.Unit), error) {
	if o.Context.Namespace == "" {
		return nil, nil //nolint:nilnil // there is nothing to adopt
	}
	all, err := o.list(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]*source.Unit{}
	for _, s := range all {
		active, _ := s.active(false)
		for _, u := range active.Units {
			if there[u.Name()] == nil || there[u.Name()].ShadowOf != "" {
				there[u.Name()] = u
			}
		}
	}
	return func(u *source.Unit) {
		if was := there[u.Name()]; was != nil && u.Set == "" {
			u.Set, u.ShadowOf, u.Account, u.Overrides = was.Set, was.ShadowOf, was.Account, was.Overrides
			u.Document.Set = was.Document.Set
		}
	}, nil
}

// served says how a cluster serves kinds; of one that it does not serve yet
// the CRDs at hand may tell.
func served(config *rest.Config, schemas *schema.Set) (rbac.Resources, error) {
	_, mapper, err := clusterMapper(config)
	if err != nil {
		return nil, err
	}
	return func(gvk schema.GVK) (schema.Resource, bool) {
		if r, ok := discovery.ResourceOf(mapper, gvk); ok {
			return r, true
		}
		return schemas.Resource(gvk)
	}, nil
}

func clusterMapper(config *rest.Config) (*http.Client, meta.RESTMapper, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	return client, mapper, nil
}

// compiled compiles what ConfigMaps hold. Nothing runs here, so a kind without
// a schema is no reason to say anything.
func compiled(catalog *source.Catalog, schemas *schema.Set, errOut io.Writer) (*policySet, error) {
	out := &policySet{documents: map[string]string{}}
	b, err := fromCatalog(catalog, schemas, errOut)
	if err != nil {
		return nil, err
	}
	out.policies = b.Policies
	for id, u := range catalog.Units {
		if b.Policy(u) == nil {
			out.broken, out.documents[id] = append(out.broken, id), u.Document.Of
		}
	}
	slices.SortFunc(out.policies, func(a, b *plan.Policy) int { return cmp.Compare(a.ID(), b.ID()) })
	slices.Sort(out.broken)
	return out, nil
}
