package eval

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// parts are objects in parts that can be applied in any combination. They have
// what API servers merge or write in ways of their own.
var parts = map[string][]string{
	"{apiVersion: v1, kind: Service, metadata: {namespace: ns, name: a}, spec: {type: ClusterIP}}": {
		"{spec: {selector: {app: a}}}",
		"{spec: {ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}, {name: dnstcp, port: 53}]}}",
		"{spec: {loadBalancerSourceRanges: []}, metadata: {labels: {l: x}, annotations: {note: b}, finalizers: [example.com/keep]}}",
		"{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: u}]}}",
		"{spec: {externalIPs: [10.0.0.1, 10.0.0.2]}}",
	},
	"{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: ns, name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}}}": {
		"{spec: {replicas: 2}}",
		"{spec: {template: {spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}], env: [{name: A, value: x}], args: [], volumeMounts: [], resources: {limits: {cpu: 1000m, memory: 0.5Gi}}}]}}}}",
		"{spec: {template: {spec: {volumes: [{name: v, emptyDir: {}}], tolerations: [{key: k, operator: Exists}], nodeSelector: {}}}}}",
		"{spec: {template: {metadata: {labels: {more: x}}}}}",
		"{spec: {strategy: {rollingUpdate: {maxSurge: 25%}}}}",
	},
	"{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: a}}": {
		"{spec: {hard: {cpu: 1000m}}}", "{spec: {hard: {memory: 1024Mi}}}", "{spec: {hard: {pods: 10}}}",
	},
	// No schema: lists are atomic.
	"{apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}}": {
		"{spec: {list: [{a: 1}, {a: 2}]}}", "{spec: {deep: {er: {x: 1}}}}", "{spec: {empty: {}}}",
	},
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := apiserver.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mergedInto(into, from map[string]any) {
	for field, v := range from {
		inner, isMap := v.(map[string]any)
		have, had := into[field].(map[string]any)
		if isMap && had {
			mergedInto(have, inner)
			continue
		}
		into[field] = runtime.DeepCopyJSONValue(v)
	}
}

// chosen returns the object with the parts whose bits are set.
func chosen(t *testing.T, base string, bits int) map[string]any {
	t.Helper()
	out := parsed(t, base)
	for i, part := range parts[base] {
		if bits&(1<<i) != 0 {
			mergedInto(out, parsed(t, part))
		}
	}
	return out
}

type heldServer struct {
	*apiserver.Server
	schemas *schema.Set
}

func newHeldServer() *heldServer {
	schemas := schema.NewSet(schema.Builtin())
	return &heldServer{apiserver.New(schemas, func() time.Time { return time.Unix(0, 0) }), schemas}
}

func (s *heldServer) apply(t *testing.T, o map[string]any, manager string) {
	t.Helper()
	if _, err := s.Apply(apiserver.ID(o), o, apiserver.Options{Manager: manager, Force: true}); err != nil {
		t.Fatal(err)
	}
}

// settled reports whether the manifest is applied, with the values compared or
// not.
func (s *heldServer) settled(o map[string]any, values bool) bool {
	live := s.Get(apiserver.ID(o))
	kind := s.schemas.Of(apiserver.ID(o).GVK())
	held := world.ManagersOf(live, value.KeepAll).Applied("edict/p")
	if held == nil {
		return false
	}
	c := comparison{values: values}
	want, _ := value.Freeze(o, kind, value.KeepAll).(*value.Map)
	return c.object(held, want, value.Freeze(live, kind, value.KeepAll), kind, nil)
}

// TestWhatIsAppliedIsHeld: for every combination of parts, an object is settled
// right after it was applied, and stays so while others add what the policy
// does not say; another combination is not.
func TestWhatIsAppliedIsHeld(t *testing.T) {
	t.Parallel()
	for base := range parts {
		all := make([]map[string]any, 1<<len(parts[base]))
		for bits := range all {
			all[bits] = chosen(t, base, bits)
		}
		for bits := 1; bits < len(all); bits++ {
			s := newHeldServer()
			o := chosen(t, base, bits)
			s.apply(t, o, "edict/p")
			theirs := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"theirs": "x"}}}
			if _, err := s.Patch(apiserver.ID(o), theirs, apiserver.Options{Manager: "other"}); err != nil {
				t.Fatal(err)
			}
			for _, values := range []bool{false, true} {
				if !s.settled(o, values) {
					t.Errorf("%s, parts %b, values %v: it is applied, and not found to be", base, bits, values)
				}
			}
			for other := 1; other < len(all); other++ {
				if other != bits && s.settled(all[other], true) {
					t.Errorf("%s: parts %b are applied, and %b are found to be", base, bits, other)
				}
			}
		}
	}
}

// TestEmptyListsAreHeldByNobody: of a list that is merged by its items the server notes
// no manager when it is empty, but a custom kind keeps it. It is applied all the same,
// also while the list has items of others, and not while it has items of the policy.
func TestEmptyListsAreHeldByNobody(t *testing.T) {
	t.Parallel()
	const list = `{type: array, items: {type: object, required: [name], properties: {name: {type: string}, tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}}}`
	for name, tc := range map[string]struct {
		want, theirs string
		settled      bool
	}{
		"a map":                    {"{map: []}", "", true},
		"a set":                    {"{set: []}", "", true},
		"an atomic list":           {"{atomic: []}", "", true},
		"in an item":               {"{map: [{name: a, tags: []}]}", "", true},
		"items of others":          {"{map: []}", "{map: [{name: b}]}", true},
		"an atomic list of others": {"{atomic: []}", "{atomic: [{name: b}]}", false},
	} {
		s := newHeldServer()
		if err := s.schemas.AddCRD([]byte(`{kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
			map: ` + list + `, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}, atomic: ` + list + `}, set: {type: array, items: {type: string}, x-kubernetes-list-type: set}}}}}}}]}}`)); err != nil {
			t.Fatal(err)
		}
		of := func(spec string) map[string]any {
			return parsed(t, "{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: a, labels: {a: b}}, spec: "+spec+"}")
		}
		s.apply(t, of(tc.want), "edict/p")
		if tc.theirs != "" {
			s.apply(t, of(tc.theirs), "other")
		}
		for _, values := range []bool{false, true} {
			if got := s.settled(of(tc.want), values); got != tc.settled {
				t.Errorf("%s, values %v: settled is %v", name, values, got)
			}
		}
		s.apply(t, of("{map: [{name: mine}], set: [x]}"), "edict/p")
		if s.settled(of(tc.want), false) {
			t.Errorf("%s: settled with items that are not wanted any more", name)
		}
	}
}

// TestWhatHasOnlyEmptyListsIsApplied: an object with nothing but empty lists is applied
// until it is there, the key of a map also until the policy holds it, and what is replaced
// as a whole until the policy holds that. Then it is at rest.
func TestWhatHasOnlyEmptyListsIsApplied(t *testing.T) {
	t.Parallel()
	const (
		object = `{type: object, properties: {set: {type: array, items: {type: string}, x-kubernetes-list-type: set}, x: {type: string}}`
		crd    = `{kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
			x: {type: string}, object: ` + object + `}, atomic: ` + object + `, x-kubernetes-map-type: atomic}, map: {type: object, additionalProperties: ` + object + `}}}}}}}}]}}`
	)
	const whole = "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]"
	for name, tc := range map[string]struct {
		kind, before, theirs, want string
		settled                    bool // before it is applied
	}{
		"an object":              {"example.com/v1, kind: Gadget", "x: a", "", "x: a, object: {set: []}", false},
		"an object of others":    {"example.com/v1, kind: Gadget", "x: a", "object: {set: [b]}", "x: a, object: {set: []}", true},
		"what was held in it":    {"example.com/v1, kind: Gadget", "x: a, object: {x: a}", "", "x: a, object: {set: []}", false},
		"a key":                  {"example.com/v1, kind: Gadget", "x: a", "", "x: a, map: {k: {set: []}}", false},
		"a key of others":        {"example.com/v1, kind: Gadget", "x: a", "map: {k: {set: []}}", "x: a, map: {k: {set: []}}", false},
		"another key":            {"example.com/v1, kind: Gadget", "map: {j: {set: []}}", "map: {k: {set: []}}", "map: {j: {set: []}, k: {set: []}}", false},
		"as a whole":             {"example.com/v1, kind: Gadget", "x: a", "", "x: a, atomic: {set: []}", false},
		"as a whole, of others":  {"example.com/v1, kind: Gadget", "x: a", "atomic: {x: a}", "x: a, atomic: {set: []}", false},
		"no schema":              {"example.com/v1, kind: Unknown", "x: a", "", "x: a, object: {k: {list: []}}", false},
		"of a built-in kind":     {"apps/v1, kind: Deployment", whole + "}}", "", whole + ", securityContext: {sysctls: []}, affinity: {nodeAffinity: {}}}}", false},
		"a selector of no label": {"networking.k8s.io/v1, kind: NetworkPolicy", "policyTypes: [Egress]", "podSelector: {matchLabels: {a: b}}", "policyTypes: [Egress], podSelector: {matchExpressions: []}", false},
	} {
		s := newHeldServer()
		if err := s.schemas.AddCRD([]byte(crd)); err != nil {
			t.Fatal(err)
		}
		of := func(spec string) map[string]any {
			return parsed(t, "{apiVersion: "+tc.kind+", metadata: {namespace: ns, name: a, labels: {a: b}}, spec: {"+spec+"}}")
		}
		s.apply(t, of(tc.before), "edict/p")
		if tc.theirs != "" {
			s.apply(t, of(tc.theirs), "other")
		}
		for _, values := range []bool{false, true} {
			if got := s.settled(of(tc.want), values); got != tc.settled {
				t.Errorf("%s, values %v: settled before is %v", name, values, got)
			}
		}
		for range 2 { // the server removes an object with the last field that was held in it
			s.apply(t, of(tc.want), "edict/p")
		}
		for _, values := range []bool{false, true} {
			if !s.settled(of(tc.want), values) {
				t.Errorf("%s, values %v: it is not settled after", name, values)
			}
		}
	}
}

// TestEmptyListsOfMetadata: a custom kind's schema does not tell that they are merged.
func TestEmptyListsOfMetadata(t *testing.T) {
	t.Parallel()
	s := newHeldServer()
	if err := s.schemas.AddCRD([]byte(`{kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]}}`)); err != nil {
		t.Fatal(err)
	}
	of := func(meta string) map[string]any {
		return parsed(t, "{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: a, labels: {a: b}, "+meta+"}}")
	}
	s.apply(t, of("finalizers: []"), "edict/p")
	s.apply(t, of("finalizers: [example.com/keep]"), "other")
	if !s.settled(of("finalizers: []"), true) {
		t.Error("it is applied, and not found to be")
	}
}

// TestWhatOthersChangeIsSeen: whoever changes a value takes the field.
func TestWhatOthersChangeIsSeen(t *testing.T) {
	t.Parallel()
	for base := range parts {
		o := chosen(t, base, 1<<len(parts[base])-1)
		for _, patch := range changes(o) {
			s := newHeldServer()
			s.apply(t, o, "edict/p")
			id := apiserver.ID(o)
			before := s.Get(id)
			after, err := s.Patch(id, patch, apiserver.Options{Manager: "somebody"})
			if apierrors.IsInvalid(err) { // nobody can change the field
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			changed := fmt.Sprint(before["spec"], before["metadata"].(map[string]any)["labels"]) != fmt.Sprint(after["spec"], after["metadata"].(map[string]any)["labels"])
			if got := s.settled(o, false); got == changed {
				t.Errorf("%s, after %v: settled %v, changed %v", base, patch, got, changed)
			}
		}
	}
}

// changes returns a patch for each leaf of an object's spec and labels: one that
// changes it, and one that takes it away.
func changes(o map[string]any) (out []map[string]any) {
	var walk func(v any, wrap func(any) map[string]any)
	walk = func(v any, wrap func(any) map[string]any) {
		m, ok := v.(map[string]any)
		if !ok || len(m) == 0 {
			out = append(out, wrap(nil))
			if s, isText := v.(string); isText {
				out = append(out, wrap(s+"0"))
			}
			return
		}
		for field, inner := range m {
			walk(inner, func(x any) map[string]any { return wrap(map[string]any{field: x}) })
		}
	}
	walk(o["spec"], func(x any) map[string]any { return map[string]any{"spec": x} })
	if labels := o["metadata"].(map[string]any)["labels"]; labels != nil {
		walk(labels, func(x any) map[string]any { return map[string]any{"metadata": map[string]any{"labels": x}} })
	}
	return out
}

// TestOrderOfKeyedLists: the entries that a policy applies are in its order, whatever others
// have between them.
func TestOrderOfKeyedLists(t *testing.T) {
	t.Parallel()
	of := func(names string) map[string]any {
		return parsed(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: ns, name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: ["+names+"]}}}}")
	}
	const a, b, theirs = "{name: a, image: i}", "{name: b, image: i}", "{name: theirs, image: i}"
	s := newHeldServer()
	s.apply(t, of(a), "edict/p")
	s.apply(t, of(theirs), "other")
	for _, names := range []string{a + ", " + b, b + ", " + a} {
		for _, values := range []bool{false, true} {
			if s.settled(of(names), values) {
				t.Errorf("%s, values %v: it is settled before it is applied", names, values)
			}
		}
		s.apply(t, of(names), "edict/p")
		for _, values := range []bool{false, true} {
			if !s.settled(of(names), values) {
				t.Errorf("%s, values %v: it is not settled after it was applied", names, values)
			}
		}
	}
}
