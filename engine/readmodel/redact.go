package readmodel

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/schema"
)

// Secret is the kind whose values are replaced by digests.
var Secret = schema.GVK{APIVersion: "v1", Kind: "Secret"}

// lastApplied is where kubectl keeps the whole manifest, values included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Redacted returns a Secret with a digest in place of each value: a policy sees
// that a value has changed, and no value can leave by what it writes or says.
// The digest is the SHA-256 of namespace, name, key and value, in base64 as the
// value was, so that equal values of two keys do not look alike.
func Redacted(object map[string]any) map[string]any {
	out := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"data", "stringData"} {
		if values, ok := object[field].(map[string]any); ok {
			out[field] = digests(fmt.Sprint(metadata["namespace"], "/", metadata["name"]), values)
		}
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok && annotations[lastApplied] != nil {
		metadata, annotations = maps.Clone(metadata), maps.Clone(annotations)
		delete(annotations, lastApplied)
		metadata["annotations"] = annotations
		out["metadata"] = metadata
	}
	return out
}

// digests replaces values by their digests. Each part goes in with its length,
// so that no two Secrets give the same input.
func digests(of string, values map[string]any) map[string]any {
	out := make(map[string]any, len(values))
	for key, v := range values {
		text := fmt.Sprint(v)
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%d:%s", len(of), of, len(key), key, len(text), text))
		out[key] = base64.StdEncoding.EncodeToString(sum[:])
	}
	return out
}

// Undigested returns a Secret of a snapshot, which has digests in place of values
// already, without the annotation that says so; false if it has none.
func Undigested(object map[string]any) (map[string]any, bool) {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations[v1alpha1.AnnotationDigests] == nil {
		return object, false
	}
	object, metadata, annotations = maps.Clone(object), maps.Clone(metadata), maps.Clone(annotations)
	delete(annotations, v1alpha1.AnnotationDigests)
	if metadata["annotations"] = annotations; len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	object["metadata"] = metadata
	return object, true
}
