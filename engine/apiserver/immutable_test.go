package apiserver

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/schema"
)

func pod(spec Object) Object {
	out := Object{"apiVersion": "v1", "kind": "Pod", "metadata": Object{"namespace": "ns", "name": "p"}}
	if spec != nil {
		out["spec"] = spec
	}
	return out
}

func container(fields Object) []any {
	out := Object{"name": "c", "image": "i:1"}
	maps.Copy(out, fields)
	return []any{out}
}

// TestImmutableFields: what cannot be changed is named; a default that is written out is no
// change. test/conformance compares the kinds with a real server.
func TestImmutableFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		old, patch Object
		at         string
	}{
		"an image":                       {pod(Object{"containers": container(nil)}), Object{"spec": Object{"containers": container(Object{"image": "i:2"})}}, ""},
		"an argument":                    {pod(Object{"containers": container(nil)}), Object{"spec": Object{"containers": container(Object{"args": []any{"x"}})}}, "spec.containers.args"},
		"another argument":               {pod(Object{"containers": container(Object{"args": []any{"x"}})}), Object{"spec": Object{"containers": container(Object{"args": []any{"y"}})}}, "spec.containers.args"},
		"no argument":                    {pod(Object{"containers": container(Object{"args": []any{"x"}})}), Object{"spec": Object{"containers": container(nil)}}, "spec.containers.args"},
		"one more container":             {pod(Object{"containers": container(nil)}), Object{"spec": Object{"containers": append(container(nil), container(Object{"name": "d"})...)}}, "spec.containers"},
		"a default":                      {pod(Object{"containers": container(nil)}), Object{"spec": Object{"restartPolicy": "Always"}}, ""},
		"an empty map":                   {pod(Object{"containers": container(nil)}), Object{"spec": Object{"containers": container(Object{"resources": Object{}})}}, ""},
		"an empty value":                 {pod(Object{"containers": container(Object{"env": []any{Object{"name": "A", "value": ""}}})}), Object{"spec": Object{"containers": container(Object{"env": []any{Object{"name": "A"}}})}}, ""},
		"no spec before":                 {pod(nil), Object{"spec": Object{"containers": container(nil)}}, ""},
		"behind a scheduling gate":       {pod(Object{"schedulingGates": []any{Object{"name": "g"}}}), Object{"spec": Object{"nodeSelector": Object{"a": "b"}}}, ""},
		"another value than the default": {pod(Object{"restartPolicy": "Never"}), Object{"spec": Object{"restartPolicy": "Always"}}, "spec.restartPolicy"},
		"a key of a map":                 {pod(Object{"nodeSelector": Object{"a": "b"}}), Object{"spec": Object{"nodeSelector": Object{"c": "d"}}}, "spec.nodeSelector.c"},
		"an allowed field":               {pod(Object{}), Object{"spec": Object{"activeDeadlineSeconds": int64(5)}}, ""},
		"metadata":                       {pod(Object{}), Object{"metadata": Object{"labels": Object{"a": "b"}}}, ""},
		"the status":                     {pod(Object{}), Object{"status": Object{"phase": "Running"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(schema.Builtin(), func() time.Time { return start })
			s.Load(tc.old)
			_, err := s.Patch(ID(tc.old), tc.patch, Options{})
			switch {
			case tc.at == "" && err != nil:
				t.Error(err)
			case tc.at != "" && (!apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), `Pod "p" is invalid: `+tc.at+": Forbidden: field is immutable")):
				t.Errorf("%v, want %s to be immutable", err, tc.at)
			}
		})
	}
}

// TestLocksNameFields: each path of the table is a field of its kind.
func TestLocksNameFields(t *testing.T) {
	t.Parallel()
	for name, list := range locks() {
		group, kind, _ := strings.Cut(name, "/")
		of, ok := schema.Builtin().Kind(schema.GVK{APIVersion: strings.TrimPrefix(group+"/v1", "/"), Kind: kind})
		if !ok {
			t.Errorf("%s is no built-in kind", name)
			continue
		}
		for _, l := range list {
			for _, path := range slices.Concat(l.Fields, l.But, slices.Collect(maps.Keys(l.Defaults))) {
				if !has(of, strings.Split(path, ".")) {
					t.Errorf("%s has no field %s", name, path)
				}
			}
		}
	}
}

func has(t *schema.Type, path []string) bool {
	for _, name := range path {
		if t.Kind == schema.List {
			t = t.Item()
		}
		if t = t.Field(name); t == nil {
			return false
		}
	}
	return true
}
