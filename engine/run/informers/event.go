package informers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/edict-dev/edict/engine/scan"
)

// event is the last event of a watch, which the framer finds, and the serializers of
// events and objects decode. Its text belongs to the framer.
type event struct {
	kind string
	// text is all of it, object what has changed; nil where it does not stand where the
	// API server puts it.
	text, object []byte
}

// set notes an event in which the first object or list is between two places.
func (e *event) set(text []byte, inner, innerEnd int) {
	*e = event{text: text}
	if innerEnd < inner || innerEnd != len(text)-1 {
		return
	}
	for _, kind := range kinds {
		if string(text[:inner]) == kind.begin {
			e.kind, e.object = kind.name, text[inner:innerEnd]
		}
	}
}

// kinds are the kinds of events, and how each begins.
var kinds = func() (out []struct{ name, begin string }) {
	for _, kind := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error} {
		out = append(out, struct{ name, begin string }{string(kind), `{"type":"` + string(kind) + `","object":`})
	}
	return out
}()

// parse finds the parts of an event that does not begin as others do.
func (e *event) parse() error {
	s := scan.Scanner{Data: e.text}
	return s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			e.kind, err = s.String()
		case "object":
			e.object, err = s.Raw()
		default:
			err = s.Skip()
		}
		return err
	})
}

// changes reports whether a text is the object of this event, and one that is there or
// was: no error, and no bookmark.
func (e *event) changes(object []byte) bool {
	if len(e.object) == 0 || len(object) == 0 || &e.object[0] != &object[0] {
		return false
	}
	return e.kind == string(watch.Added) || e.kind == string(watch.Modified) || e.kind == string(watch.Deleted)
}

// envelopes decodes the events that a framer finds, and leaves their objects as they are.
type envelopes struct {
	kruntime.Serializer
	frames *frames
}

// Decode implements runtime.Decoder.
func (e envelopes) Decode(data []byte, defaults *kschema.GroupVersionKind, into kruntime.Object) (kruntime.Object, *kschema.GroupVersionKind, error) {
	out, ok := into.(*metav1.WatchEvent)
	if !ok {
		return e.Serializer.Decode(data, defaults, into)
	}
	last := &e.frames.last
	if last.object == nil {
		if err := last.parse(); err != nil {
			return nil, nil, err
		}
	}
	out.Type, out.Object.Raw = last.kind, last.object
	return out, noKind, nil
}
