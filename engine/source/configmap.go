package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ConfigMap is the text of policies: documents in keys *.yaml, their Rego in *.rego, tests in
// *_test.yaml, and values of params in params.yaml.
type ConfigMap struct {
	Namespace, Name, ResourceVersion string
	// File is the manifest that has it; empty for one of a cluster.
	File string
	Data map[string]string
	// Binary are the keys of binary data, sorted. They are not read.
	Binary []string
	// Manager is the field manager that last wrote it, Edited is when; zero if that is not known.
	Manager string
	Edited  time.Time
}

// NewConfigMap returns the text in a ConfigMap.
func NewConfigMap(m *corev1.ConfigMap) *ConfigMap {
	out := &ConfigMap{Namespace: m.Namespace, Name: m.Name, ResourceVersion: m.ResourceVersion, Data: m.Data, Binary: slices.Sorted(maps.Keys(m.BinaryData))}
	for _, f := range m.ManagedFields {
		if f.Time != nil && f.Time.After(out.Edited) {
			out.Manager, out.Edited = f.Manager, f.Time.Time
		}
	}
	return out
}

// Path names the ConfigMap where a file's path is expected.
func (c *ConfigMap) Path() string {
	if c.File != "" {
		return c.File + "/" + c.Name
	}
	return c.Namespace + "/" + c.Name
}

// Digest identifies the text: sha256: and the SHA-256 of KEY LENGTH\nVALUE of all keys, in byte
// order.
func (c *ConfigMap) Digest() string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		fmt.Fprintf(h, "%s %d\n%s", key, len(c.Data[key]), c.Data[key])
	}
	return digestPrefix + hex.EncodeToString(h.Sum(nil))
}

const digestPrefix = "sha256:"

// Revision returns the first digits of a digest.
func Revision(digest string) string {
	const digits = 8
	if len(digest) < len(digestPrefix)+digits {
		return ""
	}
	return digest[len(digestPrefix):][:digits]
}

// Folder names all policies beside a test, in a folder or a ConfigMap.
const Folder = "."

// ParamsKey is the key with the values of params.
const ParamsKey = "params.yaml"

func isDocumentKey(ext string) bool { return ext == ".yaml" || ext == ".yml" || ext == ".json" }

// isTestKey reports whether a key holds tests, as files of that name do.
func isTestKey(key string) bool {
	base := key[:len(key)-len(path.Ext(key))]
	return isDocumentKey(path.Ext(key)) && len(base) > len(testSuffix) && base[len(base)-len(testSuffix):] == testSuffix
}

const testSuffix = "_test"

func isPolicyKey(key string) bool {
	return isDocumentKey(path.Ext(key)) && key != ParamsKey && !isTestKey(key)
}
