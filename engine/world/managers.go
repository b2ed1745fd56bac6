package world

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/value"
)

// ManagerPrefix begins the field managers of policies; what follows is the
// policy's name.
const ManagerPrefix = "edict/"

// Managers are those who have set fields of an object, as its managedFields
// say.
type Managers struct {
	// Names are all of them, sorted, each once.
	Names []string
	// applied are the fields that policies hold by server-side apply, by manager.
	applied map[string]*fieldSet
}

// fieldSet is a set of fields, read when it is asked for.
type fieldSet struct {
	text []byte
	once sync.Once
	set  *fieldpath.Set
}

// ManagersField is a field that no object has. A mask that keeps it asks for the
// managers of the objects.
const ManagersField = "\x00managers"

// WithManagers is the mask that has the managers of objects kept.
var WithManagers = &value.Mask{Fields: map[string]*value.Mask{ManagersField: {}}}

// ManagersOf reads the managers from an object as plain JSON values; nil when
// the mask does not ask for them, or nobody is noted.
func ManagersOf(object map[string]any, mask *value.Mask) *Managers {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	if len(entries) == 0 || !value.Covers(mask, WithManagers) {
		return nil
	}
	out := &Managers{applied: map[string]*fieldSet{}}
	for _, raw := range entries {
		entry, _ := raw.(map[string]any)
		name, _ := entry["manager"].(string)
		if !slices.Contains(out.Names, name) {
			out.Names = append(out.Names, name)
		}
		if entry["operation"] != "Apply" || entry["subresource"] != nil && entry["subresource"] != "" || !strings.HasPrefix(name, ManagerPrefix) {
			continue
		}
		if text, err := json.Marshal(entry["fieldsV1"]); err == nil {
			out.applied[name] = &fieldSet{text: text}
		}
	}
	slices.Sort(out.Names)
	return out
}

// Has reports whether a manager is noted. It may be called on nil.
func (m *Managers) Has(name string) bool { return m != nil && slices.Contains(m.Names, name) }

// Applied returns the fields that a policy's manager holds by server-side apply;
// nil when it holds none. It must not be changed.
func (m *Managers) Applied(name string) *fieldpath.Set {
	if m == nil || m.applied[name] == nil {
		return nil
	}
	f := m.applied[name]
	f.once.Do(func() {
		set := &fieldpath.Set{}
		if set.FromJSON(bytes.NewReader(f.text)) == nil {
			f.set = set
		}
	})
	return f.set
}
