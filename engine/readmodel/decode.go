package readmodel

import (
	"fmt"
	"strconv"
	"sync/atomic"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/edict-dev/edict/engine/scan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Decoder makes objects of the read model of JSON, as the API server sends it, for
// one source. It is safe for concurrent use.
type Decoder struct {
	Source world.Source
	Type   *schema.Type
	Mask   *value.Mask
	// Known returns the object that is stored under a name, or nil. What has not
	// changed of it is used again.
	Known func(namespace, name []byte) *world.Object
	// latest is the value of the last object that was not known, which the next one may
	// be like.
	latest atomic.Pointer[value.Map]
}

// Decode returns what Object returns for the decoded manifest.
func (d *Decoder) Decode(data []byte) (*world.Object, error) {
	if d.Source.GVK == schema.Secret && !d.Source.Values || value.Covers(d.Mask, world.WithManagers) {
		return d.whole(data)
	}
	var head head
	if err := head.read(data); err != nil {
		return nil, fmt.Errorf("an object of the kind %s cannot be read: %w", d.Source.Kind, err)
	}
	known := d.Known(head.namespace, head.name)
	frozen, err := d.value(data, known)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s cannot be read: %w", d.Source.Kind, head.namespace, head.name, err)
	}
	version := world.Version{ResourceVersion: string(head.resourceVersion), Generation: head.generation}
	if frozen = d.named(frozen); known != nil && known.UID == string(head.uid) {
		return known.Next(frozen, version), nil
	}
	id, _ := world.Identify(d.Source.GVK, string(head.namespace), string(head.name)) // a bookmark has no name
	return world.NewObject(id, string(head.uid), frozen, version), nil
}

// value decodes the fields of an object.
func (d *Decoder) value(data []byte, known *world.Object) (*value.Map, error) {
	if known != nil {
		decoded, err := value.Decode(data, d.Type, d.Mask, known.Value)
		out, _ := decoded.(*value.Map)
		return out, err
	}
	var like value.Value
	if latest := d.latest.Load(); latest != nil {
		like = latest
	}
	decoded, err := value.DecodeLike(data, d.Type, d.Mask, nil, like)
	out, _ := decoded.(*value.Map)
	if out != nil {
		d.latest.Store(out)
	}
	return out, err
}

// whole decodes all of an object, of which more is needed than its fields.
func (d *Decoder) whole(data []byte) (*world.Object, error) {
	var object map[string]any
	if err := utiljson.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("an object of the kind %s cannot be read: %w", d.Source.Kind, err)
	}
	if object["kind"] == nil {
		object["apiVersion"], object["kind"] = d.Source.APIVersion, d.Source.Kind
	}
	return Object(d.Source, object, d.Type, d.Mask), nil
}

// named adds the kind to an object out of a list: the API server leaves it out there.
func (d *Decoder) named(m *value.Map) *value.Map {
	if m.Lookup("apiVersion") == nil && value.Covers(d.Mask, onlyAPIVersion) {
		m = m.With("apiVersion", value.OfString(d.Source.APIVersion))
	}
	if m.Lookup("kind") == nil && value.Covers(d.Mask, onlyKind) {
		m = m.With("kind", value.OfString(d.Source.Kind))
	}
	return m
}

// Masks of what says of which kind an object is.
var (
	onlyAPIVersion = &value.Mask{Fields: map[string]*value.Mask{"apiVersion": {}}}
	onlyKind       = &value.Mask{Fields: map[string]*value.Mask{"kind": {}}}
)

// head is what every object has.
type head struct {
	namespace, name, uid, resourceVersion []byte
	generation                            int64
}

// read reads the head of an object, and no more.
func (h *head) read(data []byte) error {
	s := scan.Scanner{Data: data}
	return s.Head(func(key []byte) error {
		if string(key) != "metadata" {
			return s.Skip()
		}
		if err := s.Object(func(key []byte) error { return h.field(&s, key) }); err != nil {
			return err
		}
		return scan.ErrEnough
	})
}

// text returns where a field of the metadata goes that is a text; nil for others.
func (h *head) text(key []byte) *[]byte {
	switch string(key) {
	case "namespace":
		return &h.namespace
	case "name":
		return &h.name
	case "uid":
		return &h.uid
	case "resourceVersion":
		return &h.resourceVersion
	}
	return nil
}

func (h *head) field(s *scan.Scanner, key []byte) (err error) {
	into := h.text(key)
	switch {
	case into != nil && s.Peek() == '"':
		*into, err = rawText(s)
	case string(key) == "generation":
		var text []byte
		if text, err = s.Raw(); err == nil {
			h.generation, _ = strconv.ParseInt(string(text), 10, 64)
		}
	default:
		err = s.Skip()
	}
	return err
}

// rawText takes a string and returns its bytes, which belong to the text if they stand
// there as they are.
func rawText(s *scan.Scanner) ([]byte, error) {
	raw, plain, err := s.Text()
	if err != nil || plain {
		return raw, err
	}
	text, err := scan.Unquote(raw, plain)
	return []byte(text), err
}
