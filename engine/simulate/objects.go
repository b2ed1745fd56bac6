package simulate

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// ReadObjects reads the manifests at a path: a file, or a folder of YAML and
// JSON files; List objects are unpacked. Files that are something else, such
// as a timeline that lies beside the manifests, are passed over when they are
// named in except; the folder's own answers always are.
func ReadObjects(path string, except ...string) ([]Object, error) {
	files, err := load.Files(path)
	if err != nil {
		return nil, err
	}
	if answers := AnswersIn(path); answers != "" {
		except = append(slices.Clone(except), answers)
	}
	var out []Object
	for _, f := range files {
		if slices.ContainsFunc(except, func(other string) bool { return sameFile(other, f.Path) }) {
			continue
		}
		list, err := ParseObjects(f.Path, f.Text)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// ParseObjects reads the manifests of a file.
func ParseObjects(name string, text []byte) ([]Object, error) {
	if documents := jsonDocuments(text); len(documents) > 0 {
		return unpackAll(name, documents)
	}
	var problems document.Problems
	var out []Object
	for _, n := range document.ParseUnbounded(name, text, &problems) {
		o, ok := n.Plain().(Object)
		if !ok {
			problems.Errorf(n.Pos, "a manifest must be a mapping, not %s", n.Kind)
			continue
		}
		list, err := unpack(n.Pos.String(), o)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, problems.Err()
}

// separator matches the line between two documents of a file.
var separator = regexp.MustCompile(`(?m)^---[ \t]*\r?$`)

// jsonDocuments returns the documents of a file if all are of JSON, which is not always YAML.
func jsonDocuments(text []byte) (out []Object) {
	for _, part := range separator.Split(string(text), -1) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		o, err := apiserver.Decode([]byte(part))
		if err != nil || o == nil {
			return nil
		}
		out = append(out, o)
	}
	return out
}

// unpackAll returns the objects of several documents.
func unpackAll(where string, documents []Object) (out []Object, err error) {
	for _, o := range documents {
		list, err := unpack(where, o)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// unpack returns the items of a List, or the objects of a Result, or the object itself.
func unpack(where string, o Object) ([]Object, error) {
	items, ok := o["items"].([]any)
	if !ok && o["effects"] != nil {
		items, ok = o["objects"].([]any)
	}
	if ok && metadata(o)["name"] == nil {
		var out []Object
		for _, item := range items {
			inner, ok := item.(Object)
			if !ok {
				return nil, fmt.Errorf("%s: an item of the List is not an object", where)
			}
			list, err := unpack(where, inner)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
		}
		return out, nil
	}
	if id := apiserver.ID(o); id.APIVersion() == "" || id.Kind() == "" || id.Name() == "" {
		return nil, fmt.Errorf("%s: a manifest needs apiVersion, kind and metadata.name", where)
	}
	return []Object{o}, nil
}

// Identity names an object.
type Identity = world.ID

// ID returns the identity of a manifest.
func ID(o Object) Identity { return apiserver.ID(o) }

// CheckTypes returns an error for the first object with a value of another type than its
// kind has: an API server refuses it.
func CheckTypes(schemas *schema.Set, objects []Object) error {
	for _, o := range objects {
		id := ID(o)
		t, known := schemas.Kind(id.GVK())
		if !known {
			continue
		}
		if err := (schema.Checker{}).Check(t, o); err != nil {
			return fmt.Errorf("%s %s %w", id.Kind(), id.Name(), err)
		}
	}
	return nil
}
