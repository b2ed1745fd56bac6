package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

func (o *origin) configMaps() (corev1client.ConfigMapInterface, error) {
	client, _, err := clusterClient(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	return client.CoreV1().ConfigMaps(o.namespace), nil
}

func (o *origin) fromCluster(ctx context.Context, errOut io.Writer, typed compile.Overrides) (*policySet, error) {
	catalog, config, err := o.catalog(ctx, errOut, typed)
	if err != nil {
		return nil, found("%v", err)
	}
	schemas, err := withFolders(nil, o.schemas)
	if err != nil {
		return nil, err
	}
	out, err := compiled(catalog, schemas, errOut)
	if err != nil {
		return nil, err
	}
	out.where = fmt.Sprintf("in the ConfigMaps labelled %s=true of the namespace %s", v1alpha1.LabelPolicy, o.namespace)
	if out.resources, err = served(config, schemas); err != nil {
		return nil, found("%v", err)
	}
	return out, nil
}

// catalog reads what the ConfigMaps hold, or what is in force of it once the controller has
// read them.
func (o *origin) catalog(ctx context.Context, errOut io.Writer, typed compile.Overrides) (*source.Catalog, *rest.Config, error) {
	client, config, err := clusterClient(o.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	if !o.inForce {
		catalog, err := configmap.Read(ctx, client.CoreV1().ConfigMaps(o.namespace), typed)
		return catalog, config, err
	}
	catalog, differing, err := configmap.ReadJudged(ctx, client, o.namespace, typed)
	if err != nil {
		return nil, nil, err
	}
	o.sayDiffering(errOut, catalog, differing, false)
	return catalog, config, nil
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
	out := &policySet{configMaps: map[string]string{}, documents: map[string]string{}, unreadable: unreadable(catalog)}
	b, err := fromCatalog(catalog, schemas, errOut)
	if err != nil {
		return nil, err
	}
	out.policies = b.Policies
	for id, u := range catalog.Units {
		if p := b.Policy(u); p != nil {
			out.configMaps[p.ID()] = path.Base(catalog.Origins[id].Path())
		} else {
			out.broken, out.documents[id] = append(out.broken, id), u.Document.Of
		}
	}
	slices.SortFunc(out.policies, func(a, b *plan.Policy) int { return cmp.Compare(a.ID(), b.ID()) })
	slices.Sort(out.broken)
	return out, nil
}

// told returns what is known to be wrong before anything is compiled.
func told(catalog *source.Catalog) *document.Problems {
	var out document.Problems
	for _, contents := range catalog.Contents {
		out.Append(contents.Problems)
	}
	for _, values := range catalog.Values {
		out.Append(values.Problems)
	}
	for _, conflicts := range catalog.Conflicts {
		out.Append(conflicts)
	}
	return &out
}

// unreadable returns the keys in which something cannot be read.
func unreadable(catalog *source.Catalog) (out []string) {
	for _, contents := range catalog.Contents {
		for _, key := range slices.Concat(slices.Sorted(maps.Keys(contents.Data)), contents.Binary) {
			if file := path.Join(contents.Path(), key); catalog.Unreadable(file) {
				out = append(out, file)
			}
		}
	}
	return out
}
