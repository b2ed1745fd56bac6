package schema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// definition is the part of a CustomResourceDefinition that tells its types.
type definition struct {
	Kind string `json:"kind"`
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
			} `json:"schema"`
			Subresources struct {
				Status *struct{} `json:"status"`
				Scale  struct {
					Path string `json:"specReplicasPath"`
				} `json:"scale"`
			} `json:"subresources"`
		} `json:"versions"`
	} `json:"spec"`
}

// AddCRD adds the kinds of the CustomResourceDefinitions of a file: documents of
// YAML or JSON, each a definition or a list of them as kubectl get prints it. Other
// manifests are passed over.
func (s *Set) AddCRD(text []byte) error {
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		one, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		raw, err := yaml.YAMLToJSON(one)
		if err != nil {
			return err
		}
		if err := s.addManifest(raw); err != nil {
			return err
		}
	}
}

// addManifest adds a manifest in JSON. Only what says that it is a CRD is looked
// at further: other kinds have other fields of these names.
func (s *Set) addManifest(raw []byte) error {
	var manifest struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return err
	}
	if manifest.Kind == "CustomResourceDefinition" {
		var crd definition
		if err := json.Unmarshal(raw, &crd); err != nil {
			return err
		}
		s.keep(Text{CRD: true, Text: string(raw)})
		return s.define(&crd)
	}
	for _, item := range manifest.Items {
		if err := s.addManifest(item); err != nil {
			return err
		}
	}
	return nil
}

// define adds the versions of a CRD.
func (s *Set) define(crd *definition) error {
	for _, version := range crd.Spec.Versions {
		gvk := GVK{APIVersion: crd.Spec.Group + "/" + version.Name, Kind: crd.Spec.Names.Kind}
		if crd.Spec.Names.Plural != "" {
			s.AddResource(gvk, Resource{Name: crd.Spec.Names.Plural, Namespaced: crd.Spec.Scope == "Namespaced"})
		}
		text := version.Schema.OpenAPIV3Schema
		if len(text) == 0 || string(text) == "null" {
			continue
		}
		var root spec.Schema
		if err := json.Unmarshal(text, &root); err != nil {
			return fmt.Errorf("the schema of %s: %w", gvk, err)
		}
		b := builder{named: map[string]*Type{}, describe: s.describe}
		s.Add(gvk, complete(b.build(&root, gvk.String())))
		s.mu.Lock()
		s.withoutStatus[gvk] = version.Subresources.Status == nil
		s.mu.Unlock()
		s.addStructure(gvk, sync.OnceValue(func() *Structure {
			out := customStructure(gvk, &root, version.Subresources.Status != nil, strings.TrimPrefix(version.Subresources.Scale.Path, "."))
			out.validator = validatorOf(func() ([]byte, error) { return text, nil })
			return out
		}))
	}
	return nil
}

// complete gives the root of a custom kind the fields that the API server
// adds to every kind.
func complete(t *Type) *Type {
	if t.Kind != Object {
		return Untyped()
	}
	t.Fields["metadata"] = Metadata()
	for _, name := range []string{"apiVersion", "kind"} {
		t.Fields[name] = &Type{Kind: String}
	}
	return t
}

// AddFolder adds every CRD of a folder. A folder that does not exist adds
// nothing.
func (s *Set) AddFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := s.AddCRD(text); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
