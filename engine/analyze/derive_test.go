package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// TestDerive: the parts of the object that a value is made from, without those that only
// decide.
func TestDerive(t *testing.T) {
	t.Parallel()
	text := &schema.Type{Kind: schema.String}
	item := &schema.Type{Kind: schema.Object, Name: "item", Fields: map[string]*schema.Type{"name": text, "image": text, "on": {Kind: schema.Bool}}}
	object := &schema.Type{Kind: schema.Object, Name: "object", Fields: map[string]*schema.Type{
		"a": text, "b": text, "n": {Kind: schema.Int}, "list": {Kind: schema.List, Elem: item}, "map": {Kind: schema.Map, Elem: item}, "any": schema.Any,
	}}
	base, err := cel.NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	env, err := base.With(cel.Var{Name: "object", Type: base.TypeOf(object)})
	if err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string][]string{
		`object.a`:                        {"a"},
		`"x" + object.a`:                  {"a"},
		`object.a + object.b`:             {"a", "b"},
		`object.a == "x" ? object.b : ""`: {"b"},
		`object.a == "x"`:                 nil,
		`!(object.a in ["x"])`:            nil,
		`has(object.a)`:                   nil,
		`size(object.list)`:               nil,
		`object.a.split("/")[0]`:          {"a"},
		`string(object.n)`:                {"n"},
		`object.list.map(i, i.image)`:     {"list.image"},
		`object.list.filter(i, i.on).map(i, i.name + "-x")`:                 {"list.name"},
		`object.list.filter(i, i.name == "x")[0].image`:                     {"list.image"},
		`object.list.exists(i, i.image == "x") ? "y" : object.list[0].name`: {"list.name"},
		`object.map.map(k, k)`:                                              {"map"},
		`object.map["x"].image`:                                             {"map.x.image"},
		`object.map.map(k, object.map[k].image)`:                            {"map"},
		`object.any.x.y`:                                                    {"any.x.y"},
		`object.any.map(i, i.y)`:                                            {"any"},
		`{"k": object.a}.k`:                                                 {"a"},
		`{object.a: 1}.map(k, k)`:                                           {"a"},
		`object.?a.orValue(object.b)`:                                       {"a", "b"},
		`optional.of(object.a).optMap(x, x + "y")`:                          {"a"},
		`json.encode(object)`:                                               {""},
		`[[object.a], [object.b]].flatten().sort()`:                         {"a", "b"},
		`yaml.decode(object.a).image`:                                       {"a"},
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			flow := Derive(compiled(t, env, expression), flows)
			var got []string
			for _, part := range flow.Parts(func(Root) *schema.Type { return object }) {
				got = append(got, strings.Join(part.Path, "."))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
