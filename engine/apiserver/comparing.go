package apiserver

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/edict-dev/edict/engine/schema"
)

// comparing finds what has changed below a field of a built-in kind, but for some fields.
// A field that comes to an object does not count if kube-apiserver may have set it before
// by a default in code, which the server in memory does not know.
type comparing struct {
	definitions *schema.Definitions
	lock        lock
}

// field returns the path of the first change at or below a path, "" for none.
func (c comparing) field(root *spec.Schema, old, next Object, path string) string {
	name, rest, deeper := strings.Cut(path, ".")
	return c.follow(root, old, next, name, rest, deeper, "")
}

func (c comparing) follow(s *spec.Schema, old, next Object, name, rest string, deeper bool, at string) string {
	s, definition := c.definitions.Resolve(s)
	at = strings.TrimPrefix(at+"."+name, ".")
	property := c.property(s, name)
	if !deeper {
		if old[name] == nil && (name == "spec" || slices.Contains(s.Required, name)) {
			return "" // a world of a test left out what is always there
		}
		return c.change(definition, name, property, old, next, at)
	}
	was, _ := old[name].(Object)
	is, _ := next[name].(Object)
	name, rest, deeper = strings.Cut(rest, ".")
	return c.follow(property, was, is, name, rest, deeper, at)
}

// change compares a field of two objects.
func (c comparing) change(definition, name string, s *spec.Schema, old, next Object, at string) string {
	if slices.Contains(c.lock.But, at) {
		return ""
	}
	was, had := old[name]
	is, has := next[name]
	if (was == nil || isZero(was)) && (is == nil || isZero(is)) || !has && c.lock.Given || !had && (c.lock.Once || c.defaulted(definition, name, is, at)) {
		return ""
	}
	if had != has && !slices.ContainsFunc(c.lock.But, func(path string) bool { return strings.HasPrefix(path, at+".") }) {
		return at
	}
	return c.values(s, was, is, at)
}

// defaulted reports whether kube-apiserver may have set a field to a value before.
func (c comparing) defaulted(definition, name string, v any, at string) bool {
	value, known := c.lock.Defaults[at]
	if !known {
		return !c.lock.Given && schema.Defaulted(definition, name)
	}
	return value == nil || same(value, v)
}

func (c comparing) values(s *spec.Schema, was, is any, at string) string {
	before, ok := was.(Object)
	after, fits := is.(Object)
	if ok && fits || ok && is == nil || was == nil && fits {
		return c.objects(s, before, after, at)
	}
	list, ok := was.([]any)
	items, fits := is.([]any)
	if !ok || !fits || len(list) != len(items) {
		return unlessSame(was, is, at)
	}
	return c.items(s, list, items, at)
}

func (c comparing) objects(s *spec.Schema, was, is Object, at string) string {
	s, definition := c.definitions.Resolve(s)
	both := maps.Clone(is)
	if both == nil {
		both = Object{}
	}
	maps.Copy(both, was)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if found := c.change(definition, name, c.property(s, name), was, is, at+"."+name); found != "" {
			return found
		}
	}
	return ""
}

func (c comparing) items(s *spec.Schema, was, is []any, at string) string {
	s, _ = c.definitions.Resolve(s)
	item := &spec.Schema{}
	if s.Items != nil && s.Items.Schema != nil {
		item = s.Items.Schema
	}
	for i := range was {
		if found := c.values(item, was[i], is[i], at); found != "" {
			return found
		}
	}
	return ""
}

func unlessSame(was, is any, at string) string {
	if same(was, is) {
		return ""
	}
	return at
}

// property returns the schema of a field, an empty one if there is none.
func (c comparing) property(s *spec.Schema, name string) *spec.Schema {
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		return s.AdditionalProperties.Schema
	}
	return &spec.Schema{}
}
