// Package fielddoc has what Kubernetes says of the fields of its own kinds, for
// editors. The types of engine/schema are without it.
package fielddoc

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// packed is {definition: {field: text}}; hack/descriptions writes it.
//
//go:embed builtin.json.gz
var packed []byte

var builtin = sync.OnceValue(func() map[string]map[string]string {
	text, err := Unpack(packed)
	if err != nil {
		panic(fmt.Sprintf("the embedded descriptions: %v", err))
	}
	return text
})

// Unpack reads descriptions as they are embedded.
func Unpack(packed []byte) (out map[string]map[string]string, err error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out)
}

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1."

// custom are the types that custom kinds have of Kubernetes, by the names in
// engine/schema.
var custom = map[string]string{"ObjectMeta": meta + "ObjectMeta", "ObjectMeta.ownerReferences": meta + "OwnerReference"}

// Of returns what Kubernetes says of a field of a type; "" when it says nothing. What
// several kinds share has the names of all their types, separated by |.
func Of(names, field string) string {
	for name := range strings.SplitSeq(names, "|") {
		if other := custom[name]; other != "" {
			name = other
		}
		if text := builtin()[name][field]; text != "" {
			return text
		}
	}
	return ""
}
