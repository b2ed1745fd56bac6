package informers

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/scan"
	"github.com/edict-dev/edict/engine/world"
)

// decoder makes what the API server sends into objects as informers store them.
type decoder struct {
	objects *readmodel.Decoder
	// others decodes what is no object: the API server's errors.
	others kruntime.Decoder
	// watch is the watch that this decodes the objects of.
	watch *frames
}

var _ kruntime.Serializer = (*decoder)(nil)

func (s *Set) decoder(next *informer) *readmodel.Decoder {
	return &readmodel.Decoder{
		Source: next.source, Type: s.options.Group.Schemas().Of(next.source.GVK), Mask: next.mask,
		Known: func(namespace, name []byte) *world.Object {
			return s.options.Store.Snapshot().Table(next.source).Find(namespace, name)
		},
	}
}

// noKind is returned where clients do not ask for the kind.
var noKind = &kschema.GroupVersionKind{}

// Decode implements runtime.Decoder.
func (d *decoder) Decode(data []byte, defaults *kschema.GroupVersionKind, into kruntime.Object) (kruntime.Object, *kschema.GroupVersionKind, error) {
	if into == nil && d.watch.last.changes(data) {
		defer d.watch.drop()
		return d.object(data, false)
	}
	doc, err := outline(data)
	switch {
	case err != nil:
		return nil, nil, err
	case doc.status || into != nil:
		return d.others.Decode(data, defaults, into)
	case doc.isList:
		out, err := d.list(doc)
		return out, noKind, err
	}
	return d.object(data, doc.initialEnd)
}

// object decodes an object, or the bookmark that may end a streamed list.
func (d *decoder) object(data []byte, initialEnd bool) (kruntime.Object, *kschema.GroupVersionKind, error) {
	object, err := d.objects.Decode(data)
	if err != nil {
		return nil, nil, err
	}
	return &cached{object: object, initialEnd: initialEnd}, noKind, nil
}

// Encode implements runtime.Encoder.
func (d *decoder) Encode(kruntime.Object, io.Writer) error { return errNoBodies }

// Identifier implements runtime.Encoder.
func (d *decoder) Identifier() kruntime.Identifier { return "edict" }

// document is what the API server sends, as far as it tells what it is.
type document struct {
	status, isList, initialEnd bool
	metadata                   metav1.ListMeta
	items                      [][]byte
}

// initialEventsEnd is the annotation of the bookmark that ends a streamed list.
const initialEventsEnd = metav1.InitialEventsAnnotationKey

// outline finds out what a document is. Of an object it reads no more than its
// metadata.
func outline(data []byte) (*document, error) {
	doc, s := &document{}, scan.Scanner{Data: data}
	kind, met := "", false
	err := s.Head(func(key []byte) (err error) {
		switch string(key) {
		case "kind":
			kind, err = s.String()
		case "metadata":
			met, err = true, doc.meta(&s)
		case "items":
			doc.isList = true
			err = s.List(func() error {
				item, err := s.Raw()
				doc.items = append(doc.items, item)
				return err
			})
		default:
			err = s.Skip()
		}
		if err == nil && met && kind != "" && !strings.HasSuffix(kind, "List") {
			err = scan.ErrEnough
		}
		return err
	})
	doc.status = kind == "Status"
	return doc, err
}

func (doc *document) meta(s *scan.Scanner) error {
	return s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "resourceVersion":
			doc.metadata.ResourceVersion, err = s.String()
		case "continue":
			doc.metadata.Continue, err = s.String()
		case "annotations":
			err = s.Object(func(key []byte) error {
				doc.initialEnd = doc.initialEnd || string(key) == initialEventsEnd
				return s.Skip()
			})
		default:
			err = s.Skip()
		}
		return err
	})
}

// list decodes the items of a list, on all processors.
func (d *decoder) list(doc *document) (*cachedList, error) {
	out := &cachedList{ListMeta: doc.metadata, Items: make([]*cached, len(doc.items))}
	workers := min(runtime.GOMAXPROCS(0), len(doc.items)/64+1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(doc.items) && errs[w] == nil; i += workers {
				var object *world.Object
				object, errs[w] = d.objects.Decode(doc.items[i])
				out.Items[i] = &cached{object: object}
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return out, nil
}
