package informers

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/readmodel"
)

// client lists and watches the objects of one source. What the API server sends is
// decoded straight into objects of the read model.
type client struct {
	rest     rest.Interface
	resource kschema.GroupVersionResource
	// narrow makes a request one for the source's objects.
	narrow    func(*metav1.ListOptions)
	namespace string
}

// The types of requests and of what is no object: errors and events.
var (
	versionV1 = kschema.GroupVersion{Version: "v1"}
	plain     = runtime.NewScheme()
	options   = runtime.NewParameterCodec(plain)
)

func init() { metav1.AddToGroupVersion(plain, versionV1) }

// client returns a client for a source.
func (s *Set) client(next *informer, resource kschema.GroupVersionResource) (*client, error) {
	config := rest.CopyConfig(s.options.Config)
	gv := resource.GroupVersion()
	config.APIPath, config.GroupVersion = "/apis", &gv
	if gv.Group == "" {
		config.APIPath = "/api"
	}
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = Serializer(s.decoder(next))
	restClient, err := rest.RESTClientForConfigAndClient(config, s.options.HTTP)
	if err != nil {
		return nil, err
	}
	return &client{rest: restClient, resource: resource, namespace: next.source.Namespace, narrow: next.narrow}, nil
}

func (c *client) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	c.narrow(&o)
	return c.request(&o).Do(ctx).Get()
}

// version returns at which version the source is now.
func (c *client) version(ctx context.Context) (string, error) {
	list, err := c.list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return "", err
	}
	return m.GetResourceVersion(), nil
}

func (c *client) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	c.narrow(&o)
	o.Watch = true
	return c.request(&o).Watch(ctx)
}

func (c *client) request(o *metav1.ListOptions) *rest.Request {
	return c.rest.Get().NamespaceIfScoped(c.namespace, c.namespace != "").Resource(c.resource.Resource).SpecificallyVersionedParams(o, options, versionV1)
}

// informer returns an informer of what the client lists and watches.
func (c *client) informer() toolscache.SharedIndexInformer {
	lists := &toolscache.ListWatch{ListWithContextFunc: c.list, WatchFuncWithContext: c.watch}
	return toolscache.NewSharedIndexInformerWithOptions(toolscache.ToListWatcherWithWatchListSemantics(lists, c), &cached{},
		toolscache.SharedIndexInformerOptions{ObjectDescription: c.resource.String()})
}

// Serializer returns what a client decodes lists and watches with whose objects are those
// of a source: [ObjectOf] returns what it has decoded.
func Serializer(objects *readmodel.Decoder) runtime.NegotiatedSerializer {
	return negotiator{objects, json.NewSerializerWithOptions(json.DefaultMetaFactory, plain, plain, json.SerializerOptions{})}
}

// negotiator decodes what is an object of the read model with a decoder of its own, and
// others with that of the API machinery.
type negotiator struct {
	objects *readmodel.Decoder
	others  runtime.Serializer
}

var errNoBodies = errors.New("this client sends no objects")

// SupportedMediaTypes implements runtime.NegotiatedSerializer. It is called for each watch,
// and what it returns is for one.
func (n negotiator) SupportedMediaTypes() []runtime.SerializerInfo {
	watch := &frames{}
	return []runtime.SerializerInfo{{
		MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true,
		Serializer:       &decoder{n.objects, n.others, watch},
		StreamSerializer: &runtime.StreamSerializerInfo{EncodesAsText: true, Serializer: envelopes{n.others, watch}, Framer: watch},
	}}
}

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (negotiator) EncoderForVersion(e runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return e
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (negotiator) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return d
}
