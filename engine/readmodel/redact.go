package readmodel

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
)

// lastApplied is where kubectl keeps the whole manifest, values included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Redacted returns a Secret with a digest in place of each value, and without the
// annotations that may hold one: a policy sees that a value has changed, and no value can
// leave by what it writes or says.
// The digest is the SHA-256 of namespace, name, key and value, in base64 as the
// value was, so that equal values of two keys do not look alike.
func Redacted(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return RedactedAs(metadata["namespace"], metadata["name"], object)
}

// RedactedAs is Redacted for a part of the Secret that has a namespace and a name.
func RedactedAs(namespace, name any, object map[string]any) map[string]any {
	out := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"data", "stringData"} {
		if values, ok := object[field].(map[string]any); ok {
			out[field] = digests(fmt.Sprint(namespace, "/", name), values)
		}
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		metadata, annotations = maps.Clone(metadata), maps.Clone(annotations)
		maps.DeleteFunc(annotations, func(name string, v any) bool {
			text, isText := v.(string)
			return name == lastApplied || v != nil && !isText || mayHoldValues(text, object)
		})
		metadata["annotations"] = annotations
		out["metadata"] = metadata
	}
	return out
}

// mayHoldValues reports whether an annotation may hold values of its Secret: tools keep
// the manifest that they have applied, as kubectl does, also compressed, under names of
// their own.
func mayHoldValues(text string, secret map[string]any) bool {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, gzipped) {
		return true
	}
	for _, field := range []string{"data", "stringData"} {
		values, _ := secret[field].(map[string]any)
		for _, v := range values {
			encoded := fmt.Sprint(v)
			if holds(text, encoded) {
				return true
			}
			if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil && holds(text, string(plain)) {
				return true
			}
		}
	}
	return false
}

// gzipped is how the base64 of what gzip has compressed begins.
const gzipped = "H4sI"

// MinHeld is how long a value is at least of which one can say that a text holds it.
const MinHeld = 4

func holds(text, v string) bool { return len(v) >= MinHeld && strings.Contains(text, v) }

// digests replaces values by their digests. Each part goes in with its length,
// so that no two Secrets give the same input.
func digests(of string, values map[string]any) map[string]any {
	out := make(map[string]any, len(values))
	for key, v := range values {
		if v == nil { // a patch removes it
			out[key] = nil
			continue
		}
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
