package snapshot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// HashNames returns objects with every name, namespace and value of a label
// replaced by a hash of it, wherever it stands as a text of its own or as a part
// of one between slashes. Equal texts stay equal. A key makes the hashes
// impossible to guess from a list of names; "" is none. The manifest that kubectl keeps in
// an annotation has names inside its text, and all fields: it is replaced as a whole.
func HashNames(objects []Object, key string) []Object {
	h := hasher{key: key, names: map[string]string{}}
	for _, o := range objects {
		metadata, _ := o["metadata"].(map[string]any)
		h.learn(metadata["name"])
		h.learn(metadata["namespace"])
		labels, _ := metadata["labels"].(map[string]any)
		for _, v := range labels {
			h.learn(v)
		}
		annotations, _ := metadata["annotations"].(map[string]any)
		h.learn(annotations[corev1.LastAppliedConfigAnnotation])
	}
	out := make([]Object, len(objects))
	for i, o := range objects {
		hashed, _ := h.replace(o).(map[string]any)
		hashed["apiVersion"], hashed["kind"] = o["apiVersion"], o["kind"]
		out[i] = hashed
	}
	return out
}

type hasher struct {
	key   string
	names map[string]string
}

// learn notes a text to be replaced. Truths, and texts without a letter or digit,
// tell nothing and stay.
func (h *hasher) learn(v any) {
	text, _ := v.(string)
	if text == "" || text == "true" || text == "false" || h.names[text] != "" {
		return
	}
	mac := hmac.New(sha256.New, []byte(h.key))
	mac.Write([]byte(text))
	h.names[text] = "x" + hex.EncodeToString(mac.Sum(nil))[:12]
}

func (h *hasher) replace(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			out[name] = h.replace(field)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = h.replace(item)
		}
		return out
	case string:
		return h.text(v)
	default:
		return v
	}
}

func (h *hasher) text(text string) string {
	if name, ok := h.names[text]; ok {
		return name
	}
	parts := strings.Split(text, "/")
	if len(parts) == 1 {
		return text
	}
	for i, part := range parts {
		if name, ok := h.names[part]; ok {
			parts[i] = name
		}
	}
	return strings.Join(parts, "/")
}
