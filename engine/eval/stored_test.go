package eval

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/google/cel-go/common/types"
	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// typed is an object with fields that an API server stores in forms of its own.
var typed = &schema.Type{Kind: schema.Object, Name: "T", Fields: map[string]*schema.Type{
	"at": {Kind: schema.Time}, "second": {Kind: schema.Time, Cut: time.Second}, "micro": {Kind: schema.Time, Cut: time.Microsecond},
	"text": {Kind: schema.String}, "guess": {Kind: schema.Dyn, Guess: true},
	"times": {Kind: schema.List, Elem: &schema.Type{Kind: schema.Time}},
}}

// object freezes plain fields as an informer does.
func object(fields map[string]any) *value.Map {
	m, _ := value.Freeze(fields, typed, value.KeepAll).(*value.Map)
	return m
}

// TestTimesAreCompared: a time that is wanted is the one that is stored when it is the same
// instant, as far as the API server keeps it.
func TestTimesAreCompared(t *testing.T) {
	t.Parallel()
	const noon = "2026-01-01T12:00:00Z"
	at := func(text string) value.Value {
		out, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return value.OfTime(out)
	}
	text := value.OfString
	for name, tc := range map[string]struct {
		field  string
		stored any
		want   value.Value
		same   bool
		// read is whether the rules below read a time where another one is written.
		read bool
	}{
		"a fraction of nothing":              {"at", noon, text("2026-01-01T12:00:00.000Z"), true, false},
		"an offset":                          {"at", noon, text("2026-01-01T14:00:00+02:00"), true, false},
		"a time for a text":                  {"at", "2026-01-01T14:00:00.000+02:00", at(noon), true, false},
		"another time":                       {"at", noon, text("2026-01-01T12:00:00.001Z"), false, true},
		"no time":                            {"at", noon, text("noon"), false, false},
		"the same text that is no time":      {"at", "noon", text("noon"), true, false},
		"none":                               {"at", noon, value.Null, false, false},
		"a fraction of a second":             {"second", noon, text("2026-01-01T12:00:00.500Z"), true, false},
		"a time with a fraction of a second": {"second", noon, at("2026-01-01T12:00:00.999Z"), true, false},
		"another second":                     {"second", noon, text("2026-01-01T12:00:01Z"), false, false},
		"a fraction of a microsecond":        {"micro", "2026-01-01T12:00:00.000001Z", text("2026-01-01T12:00:00.0000019Z"), true, false},
		"another microsecond":                {"micro", noon, text("2026-01-01T12:00:00.000001Z"), false, false},
		"a text":                             {"text", noon, text("2026-01-01T12:00:00.000Z"), false, false},
		"a time for another text":            {"text", "2026-01-01T12:00:00.000Z", at(noon), false, false},
		"times in a list":                    {"times", []any{noon}, value.NewList([]value.Value{text("2026-01-01T14:00:00+02:00")}), true, false},
		"a field without a schema":           {"guess", map[string]any{"startTime": noon}, value.Field("startTime", text("2026-01-01T12:00:00.000Z")), true, false},
		"a text without a schema":            {"guess", map[string]any{"start": noon}, value.Field("start", text("2026-01-01T12:00:00.000Z")), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next, patch := mergeDiff(object(map[string]any{tc.field: tc.stored}), value.Field(tc.field, tc.want), typed)
			if (patch == nil) != tc.same {
				t.Errorf("the patch is %v", patch)
			}
			if _, isTime := value.Time(value.Path(next, "at")); tc.field == "at" && !tc.same && isTime != tc.read {
				t.Errorf("the rules below read %v", next)
			}
		})
	}
}

// defaulted is a kind whose items have defaults: t one, o one in another, n one of a field
// that may be null.
func defaulted(t *testing.T) *schema.Type {
	t.Helper()
	set := schema.NewSet(nil)
	err := set.AddCRD([]byte(`
kind: CustomResourceDefinition
spec:
  group: acme.io
  names: {kind: K}
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            top: {type: string, default: d}
            list: {type: array, items: &item {type: object, properties: {
              name: {type: string}, t: {type: string, default: x}, z: {type: string, nullable: true, default: x},
              o: {type: object, default: {}, properties: {a: {type: integer, default: 1}, b: {type: integer}}},
              q: {type: object, properties: {a: {type: integer, default: 1}}},
              l: {type: array, default: [1]}}}}
            inner: {type: array, items: {type: object, properties: {list: {type: array, items: *item}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	return set.Of(schema.GVK{APIVersion: "acme.io/v1", Kind: "K"})
}

// TestDefaultsOfItems: a list that is wanted is the one that is stored when the API server
// would make the same of it.
func TestDefaultsOfItems(t *testing.T) {
	t.Parallel()
	typed := defaulted(t)
	for name, tc := range map[string]struct {
		stored, want string
		same         bool
	}{
		"all defaults":                      {`{list: [{name: a, t: x, z: x, o: {a: 1}, l: [1]}]}`, `{list: [{name: a}]}`, true},
		"another value":                     {`{list: [{name: a, t: y}]}`, `{list: [{name: a}]}`, false},
		"another value is wanted":           {`{list: [{name: a, t: x}]}`, `{list: [{name: a, t: y}]}`, false},
		"the default is wanted":             {`{list: [{name: a, t: x}]}`, `{list: [{name: a, t: x}]}`, true},
		"more than the default":             {`{list: [{name: a, o: {a: 1, b: 2}}]}`, `{list: [{name: a}]}`, false},
		"another one in the default":        {`{list: [{name: a, o: {a: 2}}]}`, `{list: [{name: a}]}`, false},
		"an empty object":                   {`{list: [{name: a, o: {a: 1}}]}`, `{list: [{name: a, o: {}}]}`, true},
		"a default in no object":            {`{list: [{name: a, q: {a: 1}}]}`, `{list: [{name: a}]}`, false},
		"a default in an object":            {`{list: [{name: a, q: {a: 1}}]}`, `{list: [{name: a, q: {}}]}`, true},
		"null":                              {`{list: [{name: a, t: x}]}`, `{list: [{name: a, t: null}]}`, true},
		"null that is a value":              {`{list: [{name: a, z: x}]}`, `{list: [{name: a, z: null}]}`, false},
		"null that is stored":               {`{list: [{name: a}]}`, `{list: [{name: a, z: null}]}`, true},
		"not defaulted":                     {`{list: [{name: a}]}`, `{list: [{name: a}]}`, true},
		"a field without a default":         {`{list: [{name: a, more: b}]}`, `{list: [{name: a}]}`, false},
		"another item":                      {`{list: [{name: a, t: x}]}`, `{list: [{name: b}]}`, false},
		"fewer items":                       {`{list: [{name: a, t: x}, {name: b, t: x}]}`, `{list: [{name: a}]}`, false},
		"a list in an item":                 {`{inner: [{list: [{name: a, t: x, o: {a: 1}}]}]}`, `{inner: [{list: [{name: a}]}]}`, true},
		"a removed field":                   {`{top: d}`, `{top: null}`, true},
		"a removed field without a default": {`{top: d, more: b}`, `{more: null}`, false},
		"a removed field with a value":      {`{top: e}`, `{top: null}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := make([]*value.Map, 2)
			for i, text := range []string{tc.stored, tc.want} {
				var raw map[string]any
				if err := yaml.Unmarshal([]byte(text), &raw); err != nil {
					t.Fatal(err)
				}
				parts[i] = nulls(raw)
			}
			next, patch := mergeDiff(parts[0], parts[1], typed)
			if (patch == nil) != tc.same {
				t.Errorf("the patch is %v", patch)
			}
			if patch == nil && next != value.Value(parts[0]) {
				t.Errorf("it is %v afterwards", next)
			}
		})
	}
}

// nulls freezes plain fields with those that are null, as templates give them.
func nulls(raw map[string]any) *value.Map {
	out := map[string]value.Value{}
	for name, v := range raw {
		switch v := v.(type) {
		case map[string]any:
			out[name] = nulls(v)
		case []any:
			items := make([]value.Value, len(v))
			for i, item := range v {
				if items[i] = value.Freeze(item, nil, value.KeepAll); items[i].Type() == value.Value(value.Empty).Type() {
					items[i] = nulls(item.(map[string]any))
				}
			}
			out[name] = value.NewList(items)
		default:
			out[name] = value.Freeze(v, nil, value.KeepAll)
		}
	}
	return value.FromMap(out)
}

// TestTimesInListsAreRead: the rules below read a time in a field of an item as one.
func TestTimesInListsAreRead(t *testing.T) {
	t.Parallel()
	item := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{"at": {Kind: schema.Time, Cut: time.Second}, "key": {Kind: schema.String}}}
	list := &schema.Type{Kind: schema.List, Elem: item}
	got := asRead(value.Freeze([]any{map[string]any{"key": "a", "at": "2026-01-01T12:00:00.5Z"}, map[string]any{"key": "b"}}, nil, value.KeepAll), list)
	at, ok := value.Time(value.Path(got.(*value.List).At(0), "at"))
	if want := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC); !ok || !at.Equal(want) {
		t.Errorf("got %v", value.Plain(got))
	}
}

// TestAsReadOfAnyValue: no value is one that cannot be compared.
func TestAsReadOfAnyValue(t *testing.T) {
	t.Parallel()
	item := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{"data": {Kind: schema.Bytes}}}
	want := value.NewList([]value.Value{value.FromMap(map[string]value.Value{"data": types.Bytes("a")})})
	if got := asRead(want, &schema.Type{Kind: schema.List, Elem: item}); got != value.Value(want) {
		t.Errorf("got %v", value.Plain(got))
	}
}

// TestVerbatimTypes: values of a type that is stored as it is written are compared, and
// read, as if they were walked through field by field for what is stored in another form.
func TestVerbatimTypes(t *testing.T) {
	t.Parallel()
	of := func(more map[string]*schema.Type) *schema.Type {
		out := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{
			"a": {Kind: schema.Int}, "b": {Kind: schema.String}, "m": {Kind: schema.Map, Elem: &schema.Type{Kind: schema.String}},
		}}
		out.Fields["l"] = &schema.Type{Kind: schema.List, Elem: out}
		maps.Copy(out.Fields, more)
		return out
	}
	plain, walked := of(nil), of(map[string]*schema.Type{"at": {Kind: schema.Time}})
	if !plain.Verbatim() || walked.Verbatim() {
		t.Fatal("one of the types has no date-times, the other one has")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, b := someObject(r, 3), someObject(r, 3)
		if got, want := Stored(a, b, plain), Stored(a, b, walked); got != want {
			t.Fatalf("%v and %v are stored alike: %v, want %v", value.Plain(a), value.Plain(b), got, want)
		}
		if read := asRead(b, walked); !value.Alike(read, asRead(b, plain)) {
			t.Fatalf("%v is read as %v", value.Plain(b), value.Plain(read))
		}
	}
}

// someObject returns an object that has few different fields.
func someObject(r *rand.Rand, depth int) value.Value {
	fields := map[string]any{}
	for _, name := range []string{"a", "b", "m", "l"} {
		switch pick := r.IntN(5); {
		case pick == 0:
			fields[name] = nil
		case pick > 2: // left out
		case name == "a":
			fields[name] = int64(r.IntN(2))
		case name == "b":
			fields[name] = []string{"", "x"}[r.IntN(2)]
		case name == "m":
			fields[name] = []map[string]any{{}, {"k": "v"}, {"k": nil}}[r.IntN(3)]
		case depth > 0:
			list := make([]any, r.IntN(3))
			for i := range list {
				list[i] = value.Plain(someObject(r, depth-1))
			}
			fields[name] = list
		}
	}
	return value.Freeze(fields, nil, value.KeepAll)
}

// TestPresence: a patch is sent exactly if the API server would change the object by what is
// wanted, and the object is what is wanted afterwards, also where only the presence of an
// empty object or list differs.
func TestPresence(t *testing.T) {
	t.Parallel()
	const crd = `{kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		selfSigned: {type: object, properties: {x: {type: string}}}, ca: {type: object, properties: {secretName: {type: string}}},
		map: {type: object, additionalProperties: {type: string}}, list: {type: array, items: {type: object, properties: {name: {type: string}, scratch: {type: object}, image: {type: object}}}}}}}}}}]}}`
	for kind, specs := range map[string][]string{
		"example.com/v1, kind: Gadget": {
			"{}", "{selfSigned: {}}", "{selfSigned: {x: a}}", "{ca: {secretName: s}, selfSigned: null}", "{map: {}}", "{map: {a: b}}", "{list: []}", "{list: null}",
			"{list: [{name: t, scratch: {}}]}", "{list: [{name: t, image: {}}]}", "{list: [{name: t}]}", "{list: [{name: t, scratch: {}, image: null}]}",
		},
		"networking.k8s.io/v1, kind: NetworkPolicy": {
			"{podSelector: {}}", "{podSelector: {}, ingress: []}", "{podSelector: {matchLabels: {}}}", "{podSelector: {}, ingress: [{}]}", "{podSelector: {}, ingress: [{from: []}]}",
			"{podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}", "{podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]}",
			"{podSelector: {}, ingress: [{from: [{namespaceSelector: {}, podSelector: {}}]}]}", "{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {}}}]}]}",
		},
	} {
		for _, stored := range specs {
			for _, spec := range specs {
				s := newHeldServer()
				if err := s.schemas.AddCRD([]byte(crd)); err != nil {
					t.Fatal(err)
				}
				o := parsed(t, "{apiVersion: "+kind+", metadata: {namespace: ns, name: a}, spec: "+stored+"}")
				if _, err := s.Create(o, apiserver.Options{}); err != nil {
					t.Fatal(err)
				}
				id, kind := apiserver.ID(o), s.schemas.Of(apiserver.ID(o).GVK())
				patched := func(body map[string]any) (spec any, changed bool) {
					now := s.Copy(time.Now)
					if _, err := now.Patch(id, body, apiserver.Options{}); err != nil {
						t.Fatal(err)
					}
					return now.Get(id)["spec"], now.Version() != s.Version()
				}
				want := parsed(t, "{spec: "+spec+"}")
				wanted, changes := patched(want)
				_, patch := mergeDiff(value.Freeze(s.Get(id), kind, value.KeepAll), nulls(want), kind)
				if (patch != nil) != changes {
					t.Errorf("%s is stored and %s wanted: the patch is %v", stored, spec, value.Plain(patch))
				}
				if patch == nil {
					continue
				}
				if got, _ := patched(value.Plain(patch).(map[string]any)); !cmp.Equal(got, wanted) {
					t.Errorf("%s is stored and %s wanted: it is %v", stored, spec, got)
				}
			}
		}
	}
}
