package discovery

import (
	"errors"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
)

// published is a group's OpenAPI document, as a server gives it.
type published struct {
	address, text string
	err           error
	reads         int
}

func (p *published) Schema(string) ([]byte, error) {
	p.reads++
	return []byte(p.text), p.err
}

func (p *published) ServerRelativeURL() string { return p.address }

const widgets = `{"components": {"schemas": {"w": {"type": "object", "properties": {"metadata": {"type": "object"}},
	"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Widget"}]}}}}`

// TestDocumentsAreReadOnce: policies share the types of a group, which are read anew
// when the document has another hash, or has none.
func TestDocumentsAreReadOnce(t *testing.T) {
	t.Parallel()
	var d documents
	kind := schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}
	server := &published{address: "/openapi/v3/apis/example.com/v1?hash=A", text: widgets}
	read := func(reads int) *schema.Type {
		t.Helper()
		set, err := d.of("example.com/v1", server)
		if err != nil {
			t.Fatal(err)
		}
		known, ok := set.Kind(kind)
		if !ok || server.reads != reads {
			t.Errorf("known: %v; read %d times, want %d", ok, server.reads, reads)
		}
		return known
	}
	if one, other := read(1), read(1); one != other {
		t.Error("two policies have two types")
	}
	server.address = "/openapi/v3/apis/example.com/v1?hash=B"
	read(2)
	server.address, server.err = "/openapi/v3/apis/example.com/v1?hash=C", errors.New("it is away")
	if _, err := d.of("example.com/v1", server); err == nil {
		t.Error("what could not be read is known")
	}
	server.err = nil
	read(4)
	if set, err := d.of("example.com/v1", nil); err != nil || set == nil {
		t.Errorf("a group that is not served: %v", err)
	} else if _, ok := set.Kind(kind); ok {
		t.Error("a group that is not served has kinds")
	}
	read(5)
	server.address = "/openapi/v3/apis/example.com/v1"
	read(6)
	read(7)
}
