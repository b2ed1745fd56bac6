package discovery

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/client-go/openapi"

	"github.com/edict-dev/edict/engine/schema"
)

// documents are the OpenAPI documents of the groups that policies read, each kept
// once for all of them: one of a group with hundreds of kinds has megabytes. The zero
// value is empty.
type documents struct {
	mu     sync.Mutex
	byName map[string]groupDocument
}

// groupDocument is what was last read of a group.
type groupDocument struct {
	// address has a hash of the contents.
	address string
	set     *schema.Set
}

// of returns the types of a group, read again only when the server reports that the
// document has changed. A path of nil is a group that is not served, or not yet.
func (d *documents) of(group string, path openapi.GroupVersion) (*schema.Set, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if path == nil {
		delete(d.byName, group)
		return schema.NewSet(nil), nil
	}
	address := path.ServerRelativeURL()
	if have, ok := d.byName[group]; ok && have.address == address {
		return have.set, nil
	}
	text, err := path.Schema("application/json")
	if err != nil {
		return nil, fmt.Errorf("reading the schemas of %s: %w", group, err)
	}
	set := schema.NewSet(nil)
	if err := set.AddOpenAPI(text); err != nil {
		return nil, fmt.Errorf("the schemas of %s: %w", group, err)
	}
	if strings.Contains(address, "hash=") {
		if d.byName == nil {
			d.byName = map[string]groupDocument{}
		}
		d.byName[group] = groupDocument{address: address, set: set}
	}
	return set, nil
}
