package cluster

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Reader reads a cluster. Any request but a read is refused before it is sent.
type Reader struct {
	client  dynamic.Interface
	mapper  meta.RESTMapper
	openapi openapi.Client
	// Progress is called after each page of a list with the number of objects of
	// the kind so far; nil is not.
	Progress func(kind string, objects int)
}

// Connect returns a Reader of the cluster of a configuration.
func Connect(config *rest.Config) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	out := &Reader{}
	if out.mapper, err = apiutil.NewDynamicRESTMapper(config, client); err != nil {
		return nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	if out.client, err = dynamic.NewForConfigAndClient(config, client); err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	out.openapi = found.OpenAPIV3()
	return out, nil
}

// readOnly lets only requests through that change nothing.
type readOnly struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		return nil, fmt.Errorf("%s %s is not sent: this command only reads", request.Method, request.URL.Path)
	}
	return r.next.RoundTrip(request)
}

// Schemas returns the types of some kinds as the cluster publishes them, with next
// for those that it does not. Kinds that every cluster has are known without.
func (r *Reader) Schemas(kinds []schema.GVK, next *schema.Set) (*schema.Set, error) {
	set := schema.NewSet(next)
	var paths map[string]openapi.GroupVersion
	done := map[string]bool{}
	for _, gvk := range kinds {
		if _, builtin := schema.Builtin().Kind(gvk); builtin || done[gvk.APIVersion] {
			continue
		}
		done[gvk.APIVersion] = true
		var err error
		if paths == nil {
			if paths, err = r.openapi.Paths(); err != nil {
				return nil, fmt.Errorf("reading /openapi/v3: %w", err)
			}
		}
		if err := addGroup(set, gvk.APIVersion, paths["apis/"+gvk.APIVersion]); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func addGroup(set *schema.Set, group string, path openapi.GroupVersion) error {
	if path == nil { // it is not served
		return nil
	}
	text, err := path.Schema("application/json")
	if err != nil {
		return fmt.Errorf("reading the schemas of %s: %w", group, err)
	}
	if err := set.AddOpenAPI(text); err != nil {
		return fmt.Errorf("the schemas of %s: %w", group, err)
	}
	return nil
}

// List returns the objects of some sources, an object once for each source that
// has it. A kind that the cluster does not serve has none.
func (r *Reader) List(ctx context.Context, sources []world.Source) (out []map[string]any, err error) {
	for _, source := range sources {
		mapping, err := r.mapping(source.GVK)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("asking for %s: %w", source.GVK, err)
		}
		if out, err = r.list(ctx, source, mapping.Resource, out); err != nil {
			return nil, fmt.Errorf("listing %s: %w", source.GVK, err)
		}
	}
	return out, nil
}

func (r *Reader) mapping(gvk schema.GVK) (*meta.RESTMapping, error) {
	kind := kschema.FromAPIVersionAndKind(gvk.APIVersion, gvk.Kind)
	return r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// list appends the objects of a source to out.
func (r *Reader) list(ctx context.Context, source world.Source, resource kschema.GroupVersionResource, out []map[string]any) ([]map[string]any, error) {
	var api dynamic.ResourceInterface = r.client.Resource(resource)
	if source.Namespace != "" {
		api = r.client.Resource(resource).Namespace(source.Namespace)
	}
	options := metav1.ListOptions{LabelSelector: source.Selector, Limit: 500}
	if source.Name != "" {
		options.FieldSelector = "metadata.name=" + source.Name
	}
	found := 0
	for {
		page, err := api.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			out = append(out, page.Items[i].Object)
		}
		if found += len(page.Items); r.Progress != nil {
			r.Progress(source.Kind, found)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return out, nil
		}
	}
}
