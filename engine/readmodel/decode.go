package readmodel

import (
	"errors"
	"fmt"
	"strconv"

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
	Known func(namespace, name string) *world.Object
}

// Decode returns what Object returns for the decoded manifest.
func (d *Decoder) Decode(data []byte) (*world.Object, error) {
	if d.Source.GVK == Secret && !d.Source.Values || value.Covers(d.Mask, world.WithManagers) {
		return d.whole(data)
	}
	head, err := headOf(data)
	if err != nil {
		return nil, fmt.Errorf("an object of the kind %s cannot be read: %w", d.Source.Kind, err)
	}
	var before value.Value
	if known := d.Known(head.namespace, head.name); known != nil {
		before = known.Value
	}
	decoded, err := value.Decode(data, d.Type, d.Mask, before)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s cannot be read: %w", d.Source.Kind, head.namespace, head.name, err)
	}
	frozen, _ := decoded.(*value.Map)
	id := world.ID{GVK: d.Source.GVK, Namespace: head.namespace, Name: head.name}
	return world.NewObject(id, head.uid, d.named(frozen), world.Version{ResourceVersion: head.resourceVersion, Generation: head.generation}), nil
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
	for name, text := range map[string]string{"apiVersion": d.Source.APIVersion, "kind": d.Source.Kind} {
		asked := value.Covers(d.Mask, &value.Mask{Fields: map[string]*value.Mask{name: {}}})
		if asked && m.Lookup(name) == nil {
			m = m.With(name, value.OfString(text))
		}
	}
	return m
}

// head is what every object has.
type head struct {
	namespace, name, uid, resourceVersion string
	generation                            int64
}

// headOf reads the head of an object, and no more.
func headOf(data []byte) (head, error) {
	var h head
	s := scan.Scanner{Data: data}
	err := s.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return s.Skip()
		}
		if err := s.Object(func(key []byte) error { return h.field(&s, key) }); err != nil {
			return err
		}
		return errRead
	})
	if errors.Is(err, errRead) {
		err = nil
	}
	return h, err
}

// errRead ends the reading of a head.
var errRead = errors.New("all is read")

// text returns where a field of the metadata goes that is a text; nil for others.
func (h *head) text(key []byte) *string {
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
		*into, err = s.String()
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
