// Package objects makes the objects of the benchmark's worlds, as they come from an
// API server: decoded manifests, with all the fields that real ones have.
package objects

import (
	"encoding/json"
	"fmt"
	"time"
)

// Object is a decoded manifest.
type Object = map[string]any

// Now is the time of all decisions.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// APIVersion is that of the storage kinds.
const APIVersion = "storage.deckhouse.io/v1alpha1"

const (
	since = "2026-02-01T00:00:00Z"
	zones = 3
)

// NodeName returns the name of a node.
func NodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// VolumeName returns the name of a volume.
func VolumeName(i int) string { return fmt.Sprintf("volume-%06d", i) }

// GroupName returns the name of one of the two volume groups of a node.
func GroupName(node, which int) string { return fmt.Sprintf("vg-%05d-%c", node, 'a'+which) }

func zoneOf(i int) string { return fmt.Sprintf("zone-%d", i%zones) }

func uid(kind string, i int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012d", len(kind), i) }

// Text returns an object as JSON.
func Text(o Object) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it has JSON values only
	}
	return text
}

// Kind returns the kind of an object.
func Kind(o Object) string { return o["kind"].(string) }

// Name returns the name of an object.
func Name(o Object) string { return o["metadata"].(Object)["name"].(string) }
