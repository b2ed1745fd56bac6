package schema

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at follows field names from a type; each item of a list or value of a map is
// written *.
func at(t *Type, path ...string) *Type {
	for _, name := range path {
		switch {
		case t == nil:
			return nil
		case name == "*" && t.Kind == List:
			t = t.Item()
		default:
			t = t.Field(name)
		}
	}
	return t
}

// TestBuiltinVersions: kinds are found by their names, whatever their group.
func TestBuiltinVersions(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"Deployment": "apps/v1", "Pod": "v1", "Widget": ""} {
		if got := strings.Join(BuiltinVersions(kind), " "); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// TestBuiltinKinds: the kinds that every cluster has are known, with the types
// of their fields.
func TestBuiltinKinds(t *testing.T) {
	t.Parallel()
	set := Builtin()
	for _, gvk := range []GVK{
		{"v1", "Node"}, {"v1", "Pod"}, {"v1", "ConfigMap"}, {"v1", "Secret"}, {"v1", "Namespace"}, {"v1", "Service"}, {"v1", "PersistentVolume"},
		{"apps/v1", "Deployment"}, {"apps/v1", "StatefulSet"}, {"apps/v1", "DaemonSet"}, {"batch/v1", "Job"}, {"storage.k8s.io/v1", "StorageClass"},
		{"coordination.k8s.io/v1", "Lease"}, {"apiextensions.k8s.io/v1", "CustomResourceDefinition"}, {"rbac.authorization.k8s.io/v1", "ClusterRole"},
	} {
		kind, known := set.Kind(gvk)
		if !known || kind.Kind != Object || kind.Name == "" {
			t.Errorf("%s is not known: %+v", gvk, kind)
			continue
		}
		if name := at(kind, "metadata", "name"); name == nil || name.Kind != String {
			t.Errorf("%s has no name", gvk)
		}
	}
	for path, want := range map[string]Kind{
		"metadata.labels.x": String, "metadata.creationTimestamp": Time, "metadata.generation": Int, "metadata.ownerReferences.*.uid": String,
		"spec.nodeName": String, "spec.containers.*.image": String, "spec.containers.*.ports.*.containerPort": Int, "spec.hostNetwork": Bool,
		"spec.containers.*.resources.limits.cpu": Dyn, "status.conditions.*.lastTransitionTime": Time, "status.conditions": List, "spec.nodeSelector": Map,
		"spec.containers.*.livenessProbe.httpGet.port": Dyn,
	} {
		pod := set.Of(GVK{"v1", "Pod"})
		if got := at(pod, strings.Split(path, ".")...); got == nil || got.Kind != want {
			t.Errorf("%s of a Pod is %+v, not of sort %d", path, got, want)
		}
	}
	if at(set.Of(GVK{"v1", "Pod"}), "spec", "nodeNam") != nil {
		t.Error("a field that no Pod has is known")
	}
	if at(set.Of(GVK{"v1", "ConfigMap"}), "data").Kind != Map {
		t.Error("the data of a ConfigMap is no map")
	}
}

// crd makes the definition of a kind with a schema.
func crd(schema string) []byte {
	return []byte(`{"kind": "CustomResourceDefinition", "spec": {"group": "example.com", "names": {"kind": "Widget"}, "versions": [
		{"name": "v1", "schema": {"openAPIV3Schema": ` + schema + `}}, {"name": "v2"}]}}`)
}

func TestCustomKinds(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	err := set.AddCRD(crd(`{"type": "object", "properties": {"spec": {"type": "object", "properties": {
		"text": {"type": "string"}, "choice": {"type": "string", "enum": ["a", "b"]}, "at": {"type": "string", "format": "date-time"},
		"whole": {"type": "integer"}, "weight": {"type": "number"}, "flag": {"type": "boolean"}, "port": {"x-kubernetes-int-or-string": true},
		"list": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}, "bare": {"type": "array"},
		"map": {"type": "object", "additionalProperties": {"type": "integer"}}, "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		"open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "string"}}}, "any": {},
		"wrapped": {"allOf": [{"type": "string"}]}, "implied": {"properties": {"a": {"type": "string"}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	widget, known := set.Kind(GVK{"example.com/v1", "Widget"})
	if !known {
		t.Fatal("the kind is not known")
	}
	for path, want := range map[string]Kind{
		"kind": String, "metadata.finalizers.*": String, "spec": Object, "spec.text": String, "spec.at": Time, "spec.whole": Int, "spec.weight": Double,
		"spec.flag": Bool, "spec.port": Dyn, "spec.list": List, "spec.list.*": Object, "spec.list.*.name": String, "spec.bare.*": Dyn, "spec.map": Map,
		"spec.map.x": Int, "spec.free": Dyn, "spec.free.a.b": Dyn, "spec.open.known": String, "spec.open.other": Dyn, "spec.any": Dyn, "spec.wrapped": String, "spec.implied.a": String,
	} {
		if got := at(widget, strings.Split(path, ".")...); got == nil || got.Kind != want {
			t.Errorf("%s is %+v, not of sort %d", path, got, want)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, at(widget, "spec", "choice").Enum); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"status", "spec.txt", "spec.list.*.nam", "spec.text.x"} {
		if got := at(widget, strings.Split(path, ".")...); got != nil {
			t.Errorf("%s should not be there: %+v", path, got)
		}
	}
	if _, known := set.Kind(GVK{"example.com/v2", "Widget"}); known {
		t.Error("a version without a schema is known")
	}
}

// TestDescriptions are kept for those who ask for them, by type and field.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	text := crd(`{"type": "object", "properties": {"spec": {"type": "object", "description": "what is wanted", "properties": {
		"list": {"type": "array", "description": "several", "items": {"type": "object", "properties": {"a": {"type": "string", "description": "of an item"}}}},
		"map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"description": {"type": "string"}, "b": {"type": "string", "description": "of a value"}}}}}}}}`)
	below, without := NewSet(nil), NewSet(nil)
	below.KeepDescriptions()
	for _, set := range []*Set{below, without} {
		if err := set.AddCRD(text); err != nil {
			t.Fatal(err)
		}
	}
	spec := at(below.Of(GVK{"example.com/v1", "Widget"}), "spec")
	for _, tc := range []struct{ name, field, want string }{
		{below.Of(GVK{"example.com/v1", "Widget"}).Name, "spec", "what is wanted"},
		{spec.Name, "list", "several"},
		{spec.Name, "map", ""},
		{at(spec, "list", "*").Name, "a", "of an item"},
		{at(spec, "map", "*").Name, "b", "of a value"},
		{at(spec, "map", "*").Name, "description", ""},
		{"other|" + spec.Name, "list", "several"},
		{"other", "list", ""},
	} {
		if got := NewSet(below).Description(tc.name, tc.field); got != tc.want {
			t.Errorf("%s of %s: %q, want %q", tc.field, tc.name, got, tc.want)
		}
	}
	if got := without.Description(spec.Name, "list"); got != "" || without.descriptions != nil {
		t.Errorf("kept without being asked: %q", got)
	}
}

// TestNamesOfTypes are unique: CEL finds the fields of an object by them.
func TestNamesOfTypes(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	err := set.AddCRD(crd(`{"type": "object", "properties": {
		"spec": {"type": "object", "properties": {"a": {"type": "object", "properties": {"x": {"type": "string"}}}}},
		"status": {"type": "object", "properties": {"a": {"type": "object", "properties": {"y": {"type": "string"}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	widget := set.Of(GVK{"example.com/v1", "Widget"})
	if a, b := at(widget, "spec", "a"), at(widget, "status", "a"); a.Name == b.Name || a.Name == "" {
		t.Errorf("two types are both called %q", a.Name)
	}
}

func TestCustomKindsWithoutProperties(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	if err := set.AddCRD(crd(`{"type": "object", "x-kubernetes-preserve-unknown-fields": true}`)); err != nil {
		t.Fatal(err)
	}
	widget := set.Of(GVK{"example.com/v1", "Widget"})
	if at(widget, "spec", "anything") == nil || at(widget, "metadata", "creationTimestamp").Kind != Time {
		t.Errorf("got %+v", widget)
	}
}

func TestOtherManifests(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	for _, text := range []string{"kind: ConfigMap\n", "", "a: b\n"} {
		if err := set.AddCRD([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"a: [", "- kind: CustomResourceDefinition", "kind: CustomResourceDefinition\nspec: {versions: 3}\n"} {
		if err := set.AddCRD([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestSeveralDefinitions stand in one file, as controllers publish them.
func TestSeveralDefinitions(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	text := "# the kinds\n---\n"
	for _, kind := range []string{"Widget", "Gadget", "Gizmo"} {
		text += "kind: CustomResourceDefinition\nspec: {group: example.com, names: {kind: " + kind + "}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]}\n--- # the next\n"
	}
	if err := set.AddCRD([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Widget", "Gadget", "Gizmo"} {
		if _, known := set.Kind(GVK{"example.com/v1", kind}); !known {
			t.Errorf("%s is not known", kind)
		}
	}
	if err := set.AddCRD([]byte("kind: ConfigMap\n---\na: [\n")); err == nil {
		t.Error("a broken document after the first is accepted")
	}
}

func TestAddFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{"a.yaml": string(crd(`{"type": "object", "properties": {}}`)), "b.txt": "[", "c.json": `{"kind": "List"}`} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := NewSet(nil)
	if err := set.AddFolder(root); err != nil {
		t.Fatal(err)
	}
	if _, known := set.Kind(GVK{"example.com/v1", "Widget"}); !known {
		t.Error("the kind is not known")
	}
	if err := set.AddFolder(filepath.Join(root, "nothing")); err != nil {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, "d.yaml"), []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := set.AddFolder(root); err == nil || !strings.Contains(err.Error(), "d.yaml: ") {
		t.Errorf("a broken file: %v", err)
	}
}

// openAPI makes a document as an API server serves it.
func openAPI(schemas string) []byte { return []byte(`{"components": {"schemas": ` + schemas + `}}`) }

// TestRecursiveSchemas end: a type may hold itself.
func TestRecursiveSchemas(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	err := set.AddOpenAPI(openAPI(`{
		"Tree": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Tree"}],
			"properties": {"metadata": {"type": "object"}, "spec": {"$ref": "#/components/schemas/Branch"}}},
		"Branch": {"type": "object", "properties": {"name": {"type": "string"}, "left": {"$ref": "#/components/schemas/Branch"},
			"all": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/Branch"}]}}, "gone": {"$ref": "#/components/schemas/Missing"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tree, known := set.Kind(GVK{"example.com/v1", "Tree"})
	if !known {
		t.Fatal("the kind is not known")
	}
	if got := at(tree, "spec", "left", "all", "*", "left", "name"); got == nil || got.Kind != String {
		t.Errorf("deep inside is %+v", got)
	}
	if at(tree, "spec") != at(tree, "spec", "left", "left") {
		t.Error("one type was made several times")
	}
	if got := at(tree, "spec", "gone"); got != Any {
		t.Errorf("a reference to nothing is %+v", got)
	}
}

// TestPartsOfDefinitions: a document that has less of a definition than Kubernetes has is
// read as it is.
func TestPartsOfDefinitions(t *testing.T) {
	t.Parallel()
	const spec = "io.k8s.api.batch.v1.JobSpec"
	for name, properties := range map[string]string{
		"no template":       `{"parallelism": {"type": "integer"}}`,
		"no Pods":           `{"template": {"type": "object", "properties": {"metadata": {"type": "object"}}}}`,
		"nothing of either": `{"template": {"type": "object"}}`,
		"no fields of Pods": `{"template": {"type": "object", "properties": {"spec": {"type": "object"}}}}`,
		"no object":         `{"template": {"type": "object", "properties": {"spec": {"type": "string"}}}}`,
	} {
		set := NewSet(nil)
		err := set.AddOpenAPI(openAPI(`{"Own": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Own"}],
			"properties": {"metadata": {"type": "object"}, "spec": {"$ref": "#/components/schemas/` + spec + `"}}},
			"` + spec + `": {"type": "object", "properties": ` + properties + `}}`))
		if own, known := set.Kind(GVK{"example.com/v1", "Own"}); err != nil || !known || at(own, "spec") == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenAPIDocuments(t *testing.T) {
	t.Parallel()
	set := NewSet(nil)
	if err := set.AddOpenAPI([]byte("no JSON")); err == nil {
		t.Error("a broken document is accepted")
	}
	if err := set.AddOpenAPI(openAPI(`{"List": {"type": "object", "x-kubernetes-group-version-kind": [{"version": "v1", "kind": "NodeList"}], "properties": {"items": {"type": "array"}}}}`)); err != nil {
		t.Fatal(err)
	}
	if _, known := set.Kind(GVK{"v1", "NodeList"}); known {
		t.Error("a list counts as a kind of objects")
	}
}

func TestSets(t *testing.T) {
	t.Parallel()
	below, above := NewSet(nil), (*Set)(nil)
	a, b := GVK{"v1", "A"}, GVK{"v1", "B"}
	below.Add(a, &Type{Kind: Object, Name: "a"})
	above = NewSet(below)
	above.Add(b, &Type{Kind: Object, Name: "b"})
	if above.Of(a).Name != "a" || above.Of(b).Name != "b" {
		t.Error("a set does not ask the one below")
	}
	if _, known := below.Kind(b); known {
		t.Error("a set asks the one above")
	}
	if got := below.Of(b); got.Kind != Object || at(got, "spec", "x") == nil || !at(got, "status").Guess {
		t.Errorf("an unknown kind is %+v", got)
	}
	below.AddAll(above)
	if below.Of(b).Name != "b" {
		t.Error("AddAll leaves out what the other knows")
	}
	var none *Set
	if _, known := none.Kind(a); known {
		t.Error("no set knows a kind")
	}
}

func TestTypesOfNothing(t *testing.T) {
	t.Parallel()
	var none *Type
	if none.Field("a") != Any || none.Item() != Any || (&Type{Kind: String}).Field("a") != nil || (&Type{Kind: List}).Item() != Any || (&Type{Kind: String}).Item() != Any {
		t.Error("types of what is not known")
	}
	if diff := cmp.Diff([]string{"a", "b"}, (&Type{Fields: map[string]*Type{"b": Any, "a": Any}}).FieldNames()); diff != "" {
		t.Error(diff)
	}
}

// TestListsOfCRDs: what kubectl get crd -o yaml prints is read, too.
func TestListsOfCRDs(t *testing.T) {
	t.Parallel()
	s := NewSet(nil)
	list := `{kind: List, apiVersion: v1, items: [
		{kind: Deployment, spec: {versions: none}},
		{kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [
			{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]}}]}`
	if err := s.AddCRD([]byte(list)); err != nil {
		t.Fatal(err)
	}
	widget, known := s.Kind(GVK{APIVersion: "example.com/v1", Kind: "Widget"})
	if !known || widget.Field("spec").Field("size").Kind != Int {
		t.Errorf("got %+v", widget)
	}
}

// TestDemanded: what the API server demands of built-in kinds is a field of theirs.
func TestDemanded(t *testing.T) {
	t.Parallel()
	objects := map[string]*Type{}
	var visit func(t *Type)
	visit = func(t *Type) {
		if t == nil || t.Name != "" && objects[t.Name] != nil {
			return
		}
		if t.Kind == Object {
			objects[t.Name] = t
		}
		visit(t.Elem)
		for _, field := range t.Fields {
			visit(field)
		}
	}
	for gvk := range Builtin().kinds {
		visit(Builtin().Of(gvk))
	}
	for name, r := range restarts() {
		pods := objects[name].Field("template").Field("spec")
		if got := pods.Field("restartPolicy").Enum; !slices.Equal(got, r.Policies) || pods.Demands("restartPolicy") != r.Demanded || pods.Field("containers") == nil {
			t.Errorf("%s: the restart policies of its Pods are %v, demanded %t", name, got, pods.Demands("restartPolicy"))
		}
	}
	for line := range demanded() {
		name, field, _ := strings.Cut(line, " ")
		if of := objects[name]; of == nil || of.Fields[field] == nil || !of.Demands(field) {
			t.Errorf("%s: no such field", line)
		}
	}
}
