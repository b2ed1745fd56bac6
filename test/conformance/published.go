package conformance

import (
	"encoding/json"
	"os"

	"github.com/edict-dev/edict/engine/schema"
)

// The schemas of the kinds under testdata/crds, as a real server publishes them.
const (
	publishedVersion = "conformance.edict.dev/v1"
	publishedPath    = "/openapi/v3/apis/" + publishedVersion
	publishedFile    = "testdata/published.json"
)

// published returns the kinds as a command that reads a cluster knows them.
func published() (*schema.Set, error) {
	text, err := os.ReadFile(publishedFile)
	if err != nil {
		return nil, err
	}
	out := schema.NewSet(schema.Builtin())
	return out, out.AddOpenAPI(text)
}

// writePublished writes what is read of a document: the schemas, and which kinds the paths
// of objects are about.
func writePublished(document []byte) error {
	const about = "x-kubernetes-group-version-kind"
	var doc struct {
		Paths      map[string]map[string]any `json:"paths"`
		Components json.RawMessage           `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return err
	}
	for path, operations := range doc.Paths {
		get, ok := operations["get"].(Object)
		if !ok {
			delete(doc.Paths, path)
			continue
		}
		doc.Paths[path] = Object{"get": Object{about: get[about]}}
	}
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(publishedFile, append(text, '\n'), 0o644)
}
