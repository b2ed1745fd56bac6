package compile

import (
	"strings"
	"testing"
)

// TestLackingKeys: a key that a mapping of the text does not have is found where it is
// taken, through variables, collections, loops and lookups. What may be there is not.
func TestLackingKeys(t *testing.T) {
	t.Parallel()
	const (
		one   = "{name: m, value: {exists: true, name: '${key.name}', inner: {deep: x}}}"
		many  = "{name: l, value: [{name: a, size: 1}, {name: '${key.name}', wide: 2}]}"
		each  = "{name: c, forEach: 'object.spec.podCIDRs', as: it, value: {cidr: '${it}', size: 1}}"
		keyed = "{name: k, forEach: 'object.spec.podCIDRs', as: it, keyBy: value.cidr, value: {cidr: '${it}'}}"
		group = "{name: g, forEach: 'object.spec.podCIDRs', as: it, groupBy: value.cidr, value: {cidr: '${it}'}}"
		cel   = `{name: e, expression: '{"a": {"b": 1}}'}`
	)
	for name, tc := range map[string]struct{ variables, expression, want string }{
		"a key that is there":                   {one, `variables.m.exists`, ""},
		"a key that is not":                     {one, `variables.m.exist`, `the mapping has no key "exist" / did you mean "exists"?`},
		"in brackets":                           {one, `variables.m["exist"]`, `did you mean "exists"?`},
		"nothing alike":                         {one, `variables.m.other == 1`, "it has exists, inner, name"},
		"of a mapping in it":                    {one, `variables.m.inner.deeper == ""`, `did you mean "deep"?`},
		"below what is not known":               {one, `variables.m.name.x == ""`, ""},
		"a computed key":                        {one, `variables.m[key.name] == 1`, ""},
		"a key of a map of CEL":                 {cel, `variables.e.a.c == 1`, `no key "c"`},
		"asked for":                             {one, `has(variables.m.old) ? variables.m.old : variables.m.name == ""`, ""},
		"asked for as an optional":              {one, `variables.m.?old.orValue(1) == 1 || variables.m.old == 2`, ""},
		"asked for by its name":                 {one, `"old" in variables.m && variables.m.old == 2`, ""},
		"another key is asked for":              {one, `has(variables.m.old) || variables.m.exist`, `"exist"`},
		"of an optional":                        {one, `variables.m.?inner.dep.orValue(1) == 1`, ""},
		"a key that one item has":               {many, `variables.l[0].wide == 1`, ""},
		"a key that no item has":                {many, `variables.l[0].width == 1`, `"width"`},
		"in a loop":                             {many, `variables.l.exists(i, i.nam == "a")`, `"nam"`},
		"after a filter":                        {many, `variables.l.filter(i, i.name == "a").map(i, i.nam)[0] == ""`, `"nam"`},
		"of what a loop makes":                  {many, `variables.l.map(i, {"x": i.name})[0].y == ""`, `no key "y"`},
		"of what is sorted":                     {many, `variables.l.sortBy(i, i.name)[0].nam == ""`, `"nam"`},
		"of the first":                          {many, `variables.l.first().value().nam == ""`, `"nam"`},
		"of the first, asked":                   {many, `variables.l.first().nam.hasValue()`, ""},
		"with an index":                         {many, `variables.l.transformList(i, e, e.nam)[0] == ""`, `"nam"`},
		"of one or another list":                {many, `(variables.l + [{"name": dyn("x"), "nam": dyn(1)}]).exists(i, i.nam == 1)`, ""},
		"of one list after another":             {many, `(variables.l + [{"name": "x"}]).exists(i, i.nam == "")`, `"nam"`},
		"of one that is not known":              {many, `(variables.l + object.spec.podCIDRs.map(c, json.decode(c))).exists(i, i.nam == "")`, ""},
		"of a list that is folded":              {many, `variables.l.fold(acc, {"n": 0}, i, {"n": 1, "m": 1}).m == 1`, ""},
		"of a default":                          {one, `object.metadata.?labels.orValue({})["a"] == ""`, ""},
		"of a default of the text":              {one, `variables.m.?old.orValue({"a": 1}).b == 1`, `no key "b"`},
		"of a choice":                           {one + "," + cel, `(key.name == "x" ? variables.m : variables.e).exist`, `"exist"`},
		"of a choice that has it once":          {one + "," + cel, `(key.name == "x" ? dyn(variables.m) : variables.e).a.b == 1`, ""},
		"of a choice with null":                 {one, `(key.name == "x" ? variables.m : null).exist`, `"exist"`},
		"of an optional in a list":              {one, `[dyn(optional.of({"a": 1})), dyn(2)][0].b == optional.none()`, ""},
		"in an optMap":                          {one, `variables.m.?inner.optMap(v, v.dep == "").orValue(false)`, `"dep"`},
		"of items of a collection":              {each, `variables.c[0].cdir == ""`, `did you mean "cidr"?`},
		"of values by key":                      {keyed, `variables.k["a"].cdir == ""`, `did you mean "cidr"?`},
		"of values by key, each":                {keyed, `variables.k.exists(k, variables.k[k].cidr == k)`, ""},
		"a key of values by key":                {keyed, `variables.k.anything.cidr == ""`, ""},
		"of groups":                             {group, `variables.g["a"][0].cdir == ""`, `did you mean "cidr"?`},
		"a key of a param":                      {"{name: p, value: {'${params.p}': 1}}", `variables.p.b == 1`, ""},
		"of a param":                            {"{name: p, expression: params.m}", `variables.p.b == 1`, ""},
		"of an object":                          {"{name: p, expression: object.metadata.labels}", `variables.p.b == ""`, ""},
		"through a variable":                    {one + ", {name: p, expression: variables.m}", `variables.p.exist`, `"exist"`},
		"through a template":                    {one + ", {name: p, value: {m: '${variables.m}'}}", `variables.p.m.exist`, `"exist"`},
		"of a mapping that there may be":        {"{name: p, when: 'key.name == \"x\"', value: {a: 1}}", `variables.p.b == 1`, `no key "b"`},
		"of a local name that hides a variable": {"{name: v, value: {a: 1}}, {name: p, forEach: 'object.spec.podCIDRs', as: it, variables: [{name: v, value: {b: 1}}], value: '${v.b}'}", `variables.p[0] == 1 && variables.v.a == 1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := "  params: {p: a, m: {type: map, default: {a: b}}}\n  variables: [" + tc.variables + "]\n" +
				"  rules: [{name: r, when: '" + tc.expression + "', do: [{labels: {set: {a: b}}}]}]\n"
			_, problems := compiled(t, header+spec, PolicyOptions{})
			var out []string
			for _, p := range problems {
				if p.Code == "" {
					out = append(out, p.Message+" / "+p.Hint)
				}
			}
			got := strings.Join(out, "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestLackingKeysOfItems: names of rules and selections know the keys of their items.
func TestLackingKeysOfItems(t *testing.T) {
	t.Parallel()
	const list = "  variables: [{name: l, value: [{name: a}, {name: b}]}]\n"
	for name, spec := range map[string]string{
		"of a rule":         "  rules: [{name: r, forEach: variables.l, as: i, when: 'i.nam == \"a\"', do: [{log: {message: x}}]}]\n",
		"in an action":      "  rules: [{name: r, forEach: variables.l, as: i, do: [{log: {message: '${i.nam}'}}]}]\n",
		"of a local":        "  rules: [{name: r, forEach: variables.l, as: i, variables: [{name: v, value: {name: x}}], do: [{log: {message: '${v.nam}'}}]}]\n",
		"of a selection":    "  rules: [{name: r, do: [{select: {candidates: [{as: c, in: variables.l, orderBy: [c.nam]}], then: [{log: {message: x}}]}}]}]\n",
		"of what is chosen": "  rules: [{name: r, do: [{select: {candidates: [{as: c, in: variables.l}], then: [{log: {message: '${c.nam}'}}]}}]}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+list+spec, PolicyOptions{})
			if len(problems) != 1 || problems[0].Hint != `did you mean "name"?` {
				t.Errorf("got %v", problems)
			}
		})
	}
}

// TestLackingKeysOfManyMappings: a short text that stands for more keys than are looked at
// says nothing.
func TestLackingKeysOfManyMappings(t *testing.T) {
	t.Parallel()
	const item = "{k: 1}"
	spec := "  variables: [{name: l, value: [" + strings.Repeat(item+", ", 1000) + item + "]}]\n" +
		"  rules: [{name: r, when: 'variables.l[0].b == 1', do: [{log: {message: x}}]}]\n"
	if _, problems := compiled(t, header+spec, PolicyOptions{}); len(problems) > 0 {
		t.Errorf("got %v", problems)
	}
}
