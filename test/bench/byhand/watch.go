package byhand

import (
	"bytes"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/edict-dev/edict/test/bench/stream"
)

// scheme has the kinds of the controllers.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	out := runtime.NewScheme()
	if err := corev1.AddToScheme(out); err != nil {
		panic(err)
	}
	metav1.AddToGroupVersion(out, GroupVersion)
	for kind, o := range map[string]runtime.Object{
		"ReplicatedStoragePool": &StoragePool{}, "ReplicatedVolume": &Volume{}, "ReplicatedVolumeReplica": &Replica{},
		"LVMVolumeGroup": &VolumeGroup{}, "DRBDResource": &Resource{},
	} {
		out.AddKnownTypeWithName(GroupVersion.WithKind(kind), o)
	}
	return out
})

// codecs are those of a typed client of controller-runtime.
var codecs = sync.OnceValue(func() serializer.WithoutConversionCodecFactory {
	return serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme())}
})

// contentType returns what a client of controller-runtime asks for: the kinds of
// Kubernetes itself come as protobuf.
func contentType(kind string) (schema.GroupVersion, string) {
	if kind == kindNode || kind == kindPod {
		return corev1.SchemeGroupVersion, runtime.ContentTypeProtobuf
	}
	return GroupVersion, runtime.ContentTypeJSON
}

// openWatches opens a watch of each kind.
func openWatches(kinds ...string) map[string]*stream.Stream {
	out := make(map[string]*stream.Stream, len(kinds))
	for _, kind := range kinds {
		gv, content := contentType(kind)
		s, err := stream.Open(codecs(), gv, content)
		if err != nil {
			panic(err) // there are serializers for both
		}
		out[kind] = s
	}
	return out
}

// take decodes an event of a watch.
func (c *Cache) take(kind string, event []byte) (client.Object, error) {
	return one(c.watches[kind].Next(event))
}

// one returns what was decoded, if it is an object.
func one(decoded runtime.Object, err error) (client.Object, error) {
	out, ok := decoded.(client.Object)
	if err == nil && !ok {
		err = errors.New("a list cannot be put into the cache")
	}
	return out, err
}

// Event returns the event of a watch with an object, which is given as JSON, in the
// encoding in which a client of controller-runtime receives it.
func Event(kind string, object, event []byte) ([]byte, error) {
	gv, content := contentType(kind)
	if content == runtime.ContentTypeJSON {
		return event, nil
	}
	o, _, err := codecs().UniversalDeserializer().Decode(object, nil, nil)
	if err != nil {
		return nil, err
	}
	info, _ := runtime.SerializerInfoForMediaType(codecs().SupportedMediaTypes(), content)
	text, err := runtime.Encode(codecs().EncoderForVersion(info.Serializer, gv), o)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	frames := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&out), codecs().EncoderForVersion(info.StreamSerializer.Serializer, gv))
	err = frames.Encode(&metav1.WatchEvent{Type: string(watch.Added), Object: runtime.RawExtension{Raw: text}})
	return out.Bytes(), err
}
