package analyze

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/widgets"
)

// joined are an item and a key's side that the joins below compare.
func joined() names {
	section := func(name, zone string) any { return map[string]any{"name": name, "zone": zone} }
	return names{
		"item": object(map[string]any{
			"metadata": map[string]any{"name": "i", "namespace": "ns", "labels": map[string]any{"app": "a", "zone": "z"}},
			"spec": map[string]any{
				"nodeName": "n1", "replicas": int64(3), "selector": map[string]any{"matchLabels": map[string]any{"app": "b"}},
				"zones": []any{"z1", "z2"}, "parts": []any{section("p1", "z1"), section("p2", "z2")},
			},
		}),
		"object": object(map[string]any{
			"metadata": map[string]any{"name": "o", "namespace": "ns", "labels": map[string]any{"app": "b"}},
			"spec": map[string]any{
				"nodeName": "n1", "replicas": int64(3), "selector": map[string]any{"matchExpressions": []any{
					map[string]any{"key": "app", "operator": "In", "values": []any{"a", "c"}},
				}},
				"zones": []any{"z2", "z3"}, "parts": []any{section("i", "z1"), section("j", "z2")}, "limits": map[string]any{"n1": "x", "n2": "y"},
			},
		}),
		"key.name": value.OfString("o"), "key.namespace": value.OfString("ns"),
		"params.label": value.OfString("zone"), "params.limit": value.OfInt(3), "params.labels": widgets.Texts("zone", "rack"),
		"variables.names": widgets.Texts("n1", "n2"), "variables.map": value.FromMap(map[string]value.Value{"n1": value.OfString("x"), "n2": value.OfString("y")}),
		"variables.any": value.OfString("n1"), "initial": value.OfBool(false),
	}
}

// pair writes the index key of a tuple.
func pair(a, b string) string { return joinKeys([]string{a, b}) }

// TestJoinIndexes: what an index looks up on both sides, for every form that
// it answers. A match makes the item a candidate; an exact one, a member.
func TestJoinIndexes(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for where, want := range map[string]struct {
		item, probes []string
		exact        bool
	}{
		// Equality, either way round and computed.
		`item.spec.nodeName == key.name`:                                                       {[]string{"n1"}, []string{"o"}, true},
		`key.name == item.spec.nodeName`:                                                       {[]string{"n1"}, []string{"o"}, true},
		`item.spec.nodeName == object.spec.nodeName`:                                           {[]string{"n1"}, []string{"n1"}, true},
		`item.metadata.namespace + "/" + item.metadata.name == key.namespace + "/" + key.name`: {[]string{"ns/i"}, []string{"ns/o"}, true},
		`item.spec.replicas == object.spec.replicas`:                                           {[]string{"\x01n3;"}, []string{"\x01n3;"}, true},
		`item.spec.replicas + params.limit == object.spec.replicas`:                            {[]string{"\x01n6;"}, []string{"\x01n3;"}, true},
		`item.spec.nodeName == variables.any`:                                                  {[]string{"n1"}, []string{"n1"}, true},
		`item.metadata.?labels[?params.label].orValue("") == key.name`:                         {[]string{"z"}, []string{"o"}, true},
		`item.metadata.labels[?"none"] == optional.of(key.name)`:                               {[]string{"\x01-"}, []string{"\x01os1:o"}, true},
		`item.spec.zones == object.spec.zones`:                                                 {[]string{"\x01l2:s2:z1s2:z2"}, []string{"\x01l2:s2:z2s2:z3"}, true},
		`item.spec.zones[0] == object.spec.zones[0]`:                                           {[]string{"z1"}, []string{"z2"}, true},
		`item.spec.parts.filter(p, p.zone == "z2")[0].name == key.name`:                        {[]string{"p2"}, []string{"o"}, true},
		// exists over a list of either side.
		`item.spec.parts.exists(p, p.name == key.name)`:                           {[]string{"p1", "p2"}, []string{"o"}, true},
		`item.spec.parts.exists(p, key.name == p.name)`:                           {[]string{"p1", "p2"}, []string{"o"}, true},
		`item.spec.?parts.orValue([]).exists(p, p.name == key.name)`:              {[]string{"p1", "p2"}, []string{"o"}, true},
		`item.spec.zones.exists(z, z == key.name)`:                                {[]string{"z1", "z2"}, []string{"o"}, true},
		`object.spec.parts.exists(p, p.name == item.metadata.name)`:               {[]string{"i"}, []string{"i", "j"}, true},
		`object.spec.parts.exists(p, item.metadata.name == p.name)`:               {[]string{"i"}, []string{"i", "j"}, true},
		`variables.names.exists(n, n == item.spec.nodeName)`:                      {[]string{"n1"}, []string{"n1", "n2"}, true},
		`object.spec.parts.exists(p, p.name + "-x" == item.metadata.name + "-x")`: {[]string{"i-x"}, []string{"i-x", "j-x"}, true},
		// Several equalities on one element.
		`item.spec.parts.exists(p, p.name == key.name && p.zone == key.namespace)`:                  {[]string{pair("p1", "z1"), pair("p2", "z2")}, []string{pair("o", "ns")}, true},
		`object.spec.parts.exists(p, p.zone == item.spec.zones[0] && p.name == item.metadata.name)`: {[]string{pair("z1", "i")}, []string{pair("z1", "i"), pair("z2", "j")}, true},
		// An exists of which only a part can be looked up.
		`item.spec.parts.exists(p, p.name == key.name && p.size > 3)`:                              {[]string{"p1", "p2"}, []string{"o"}, false},
		`object.spec.parts.exists(p, p.name == item.metadata.name && p.size > item.spec.replicas)`: {[]string{"i"}, []string{"i", "j"}, false},
		// Membership.
		`item.spec.nodeName in variables.names`:                       {[]string{"n1"}, []string{"n1", "n2"}, true},
		`item.spec.nodeName in object.spec.zones`:                     {[]string{"n1"}, []string{"z2", "z3"}, true},
		`key.name in item.spec.zones`:                                 {[]string{"z1", "z2"}, []string{"o"}, true},
		`key.name in item.metadata.labels`:                            {[]string{"app", "zone"}, []string{"o"}, true},
		`("in-use." + key.name) in item.metadata.?labels.orValue({})`: {[]string{"app", "zone"}, []string{"in-use.o"}, true},
		`item.spec.nodeName in object.spec.limits`:                    {[]string{"n1"}, []string{"n1", "n2"}, true},
		`item.spec.nodeName in variables.map`:                         {[]string{"n1"}, []string{"n1", "n2"}, true},
		// Label selectors, either way round. They find candidates only.
		`labels.matches(object.spec.selector, item.metadata.?labels)`: {[]string{"*", "app", "app=a", "zone", "zone=z"}, []string{"app=a", "app=c"}, false},
		`labels.matches(item.spec.selector, object.metadata.?labels)`: {[]string{"app=b"}, []string{"*", "app", "app=b"}, false},
		// A map of labels, either way round.
		`labels.matchesMap(object.metadata.?labels, item.metadata.?labels)`: {[]string{"*", "app", "app=a", "zone", "zone=z"}, []string{"app=b"}, false},
		`labels.matchesMap(item.metadata.?labels, object.metadata.?labels)`: {[]string{"app=a"}, []string{"*", "app", "app=b"}, false},
		// Conjunctions: the most selective part is looked up.
		`item.spec.nodeName == key.name && item.spec.paused`: {[]string{"n1"}, []string{"o"}, false},
		`item.spec.paused && item.spec.nodeName == key.name`: {[]string{"n1"}, []string{"o"}, false},
		`labels.matches(object.spec.selector, item.metadata.?labels) && item.spec.nodeName == key.name`: {
			[]string{pair("n1", "*"), pair("n1", "app"), pair("n1", "app=a"), pair("n1", "zone"), pair("n1", "zone=z")}, []string{pair("o", "app=a"), pair("o", "app=c")}, false,
		},
		`item.metadata.namespace == key.namespace && key.name in item.spec.zones`:                                     {[]string{pair("ns", "z1"), pair("ns", "z2")}, []string{pair("ns", "o")}, true},
		`item.metadata.namespace == key.namespace && item.spec.nodeName == object.spec.nodeName`:                      {[]string{pair("ns", "n1")}, []string{pair("ns", "n1")}, true},
		`item.spec.zones.exists(z, z == key.name) && item.spec.nodeName in variables.names && item.spec.replicas > 3`: {[]string{"z1", "z2"}, []string{"o"}, false},
		`item.spec.nodeName in variables.names && item.spec.parts.exists(p, p.name == key.name && p.size > 3)`:        {[]string{"n1"}, []string{"n1", "n2"}, false},
		`(item.spec.nodeName == key.name || item.spec.paused) && item.metadata.namespace == key.namespace`:            {[]string{"ns"}, []string{"ns"}, false},
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			j := JoinOf(compiled(t, env, where))
			if j.Item == nil || j.Probe == nil {
				t.Fatal("there is no index")
			}
			scope := joined()
			item, probes := j.Item.Keys(names{"item": scope["item"], "params.label": scope["params.label"], "params.limit": scope["params.limit"]}, meterOf(t)), j.Probe.Keys(without(scope, "item"), meterOf(t))
			if !j.Depends || j.Exact != want.exact {
				t.Errorf("depends %v, exact %v, want exact %v", j.Depends, j.Exact, want.exact)
			}
			if diff := cmp.Diff([][]string{want.item, want.probes}, [][]string{sortedKeys(item), sortedKeys(probes)}); diff != "" {
				t.Errorf("the keys of the item, and of the key (-want +got):\n%s", diff)
			}
		})
	}
}

func sortedKeys(list []string) []string { return slices.Sorted(slices.Values(list)) }

func without(scope names, name string) names {
	out := names{}
	for k, v := range scope {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// TestNaming: which keys an item names, for every form that compares parts of
// the key as they are.
func TestNaming(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for where, want := range map[string][]Name{
		`item.spec.nodeName == key.name`:                                                            {{"", "n1"}},
		`key.name == item.spec.nodeName && item.spec.replicas > 3`:                                  {{"", "n1"}},
		`item.spec.nodeName == key.name && item.metadata.namespace == key.namespace`:                {{"ns", "n1"}},
		`key.name in item.spec.zones`:                                                               {{"", "z1"}, {"", "z2"}},
		`key.namespace == item.metadata.namespace && key.name in item.spec.zones`:                   {{"ns", "z1"}, {"ns", "z2"}},
		`item.spec.parts.exists(p, p.name == key.name)`:                                             {{"", "p1"}, {"", "p2"}},
		`item.spec.parts.exists(p, key.namespace == p.zone && p.name == key.name)`:                  {{"z1", "p1"}, {"z2", "p2"}},
		`item.spec.parts.exists(p, p.name == key.name && p.size > 3)`:                               {{"", "p1"}, {"", "p2"}},
		`item.spec.parts.exists(p, p.name == key.name) && item.metadata.namespace == key.namespace`: {{"ns", "p1"}, {"ns", "p2"}},
		`item.spec.nodeName == key.name + ""`:                                                       nil,
		`item.spec.nodeName == object.metadata.name`:                                                nil,
		`("x-" + key.name) in item.spec.zones`:                                                      nil,
		`item.spec.nodeName == optional.of(key.name).value()`:                                       nil,
		`item.spec.nodeName == key.name || item.spec.replicas == 1`:                                 nil,
		`!(item.spec.nodeName == key.name)`:                                                         nil,
		`item.metadata.namespace == key.namespace`:                                                  nil,
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			j := JoinOf(compiled(t, env, where))
			if (j.Named == nil) != (want == nil) {
				t.Fatalf("got %+v", j.Named)
			}
			if want == nil {
				return
			}
			if diff := cmp.Diff(want, j.Named.Names(names{"item": joined()["item"]}, meterOf(t))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !j.UsesName {
				t.Error("it uses key.name")
			}
		})
	}
}

// TestJoinedKeys: different lists of keys never give the same key.
func TestJoinedKeys(t *testing.T) {
	t.Parallel()
	parts := []string{"", "a", "\x00", "\x01", "\x00\x01", "\x00\x02", "a\x00", "\x00\x01\x00"}
	seen := map[string][]string{}
	for _, a := range parts {
		for _, b := range parts {
			list := []string{a, b}
			key := joinKeys(slices.Clone(list))
			if other, dup := seen[key]; dup {
				t.Errorf("%q and %q give the same key", list, other)
			}
			seen[key] = list
			if diff := cmp.Diff(list, splitKeys(key)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", list, diff)
			}
		}
	}
}

// TestJoinsWithoutIndex can only be answered by looking at every object. Some
// of them do not depend on the key at all: they need no index.
func TestJoinsWithoutIndex(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for where, depends := range map[string]bool{
		`item.spec.replicas > object.spec.replicas`:                                true,
		`item.spec.nodeName != key.name`:                                           true,
		`item.spec.nodeName == key.name || item.metadata.name == key.name`:         true,
		`!(item.spec.nodeName == key.name)`:                                        true,
		`item.spec.nodeName.startsWith(key.name)`:                                  true,
		`item.spec.nodeName + key.name == "ab"`:                                    true,
		`item.spec.nodeName == object.spec.nodeName + item.metadata.name`:          true,
		`item.spec.parts.all(p, p.name == key.name)`:                               true,
		`item.spec.parts.exists_one(p, p.name == key.name)`:                        true,
		`item.spec.parts.exists(p, p.size > object.spec.replicas)`:                 true,
		`item.spec.parts.exists(p, p.name == key.name || p.zone == key.name)`:      true,
		`item.spec.parts.exists(p, p.name == item.spec.nodeName + key.name)`:       true,
		`item.spec.parts.exists(p, object.spec.parts.exists(q, q.name == p.name))`: true,
		`(item.spec.zones + object.spec.zones).exists(z, z == "a")`:                true,
		`item.spec.parts.exists(i, p, p.name == key.name)`:                         true,
		`object.spec.paused`:               true,
		`initial`:                          true,
		`key.name == object.spec.nodeName`: true,
		`object.spec.paused ? item.spec.nodeName == key.name : false`: true,
		`item.spec.replicas > 3`:                                             false,
		`item.spec.nodeName == "n1"`:                                         false,
		`item.metadata.?labels[?params.label].hasValue()`:                    false,
		`item.spec.replicas == params.limit`:                                 false,
		`labels.matches({"matchLabels": {"a": "b"}}, item.metadata.?labels)`: false,
		`item.spec.nodeName in params.labels`:                                false,
		`true`:                                                               false,
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			j := JoinOf(compiled(t, env, where))
			if j.Item != nil || j.Probe != nil || j.Exact || j.Depends != depends {
				t.Errorf("got %+v, want depends %v", j, depends)
			}
		})
	}
}

// TestJoinAgreesWithItsExpression: an index may find too much, never too
// little, and an exact one finds just what the expression holds for.
func TestJoinAgreesWithItsExpression(t *testing.T) {
	t.Parallel()
	env := environment(t)
	items := []map[string]any{
		{}, {"spec": map[string]any{}}, {"spec": map[string]any{"nodeName": "o"}}, {"spec": map[string]any{"nodeName": ""}},
		{"spec": map[string]any{"nodeName": "n1", "zones": []any{}}}, {"spec": map[string]any{"zones": []any{"o", "o"}}},
		{"spec": map[string]any{"parts": []any{map[string]any{}, map[string]any{"name": "o"}}}},
		{"spec": map[string]any{"parts": []any{map[string]any{"name": "o", "zone": "ns"}}}},
		{"metadata": map[string]any{"labels": map[string]any{"app": "a"}}}, {"metadata": map[string]any{"labels": map[string]any{"app": "d"}}},
		{"metadata": map[string]any{"labels": map[string]any{"o": ""}}}, {"metadata": map[string]any{"name": "i"}}, {"metadata": map[string]any{"name": "j", "labels": map[string]any{}}},
	}
	for _, where := range []string{
		`item.spec.nodeName == key.name`, `item.?spec.nodeName.orValue("") == key.name`, `item.spec.?nodeName == optional.of(key.name)`,
		`item.spec.zones.exists(z, z == key.name)`, `item.spec.parts.exists(p, p.name == key.name)`, `item.spec.parts.exists(p, p.?name.orValue("") == key.name)`,
		`item.spec.parts.exists(p, p.name == key.name && p.zone == key.namespace)`, `object.spec.parts.exists(p, p.name == item.metadata.name)`,
		`key.name in item.metadata.labels`, `item.spec.nodeName in variables.names`, `key.name in item.spec.zones`,
		`labels.matches(object.spec.selector, item.metadata.?labels)`, `labels.matches(item.?spec.selector, object.metadata.?labels)`,
		`item.metadata.name == key.name && labels.matches(object.spec.selector, item.metadata.?labels)`,
		`item.spec.nodeName == key.name && item.spec.zones.exists(z, z == key.name)`, `key.name in item.spec.zones && item.?spec.nodeName.orValue("o") == key.name`,
	} {
		p := compiled(t, env, where)
		j := JoinOf(p)
		if j.Item == nil {
			t.Fatalf("%s has no index", where)
		}
		for _, plain := range items {
			scope := joined()
			scope["item"] = object(plain)
			v, err := run(t, p, scope)
			holds := err == nil && value.IsTrue(v)
			found := meet(j.Item.Keys(scope, meterOf(t)), j.Probe.Keys(scope, meterOf(t)))
			if holds && !found || found && !holds && j.Exact && err == nil {
				t.Errorf("%s for %v is %v (%v), the index says %v", where, plain, holds, err, found)
			}
		}
	}
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(k string) bool { return slices.Contains(b, k) })
}

// TestKeysOfEqualValues are equal, and those of others are not.
func TestKeysOfEqualValues(t *testing.T) {
	t.Parallel()
	env := environment(t)
	list := []string{
		`""`, `"a"`, `"1"`, `1`, `dyn(1.0)`, `1.5`, `true`, `false`, `dyn(null)`, `[]`, `[1]`, `["1"]`, `{}`, `{"a": 1}`, `{"a": 2}`, `"true"`, `"[]"`,
		`timestamp("2026-01-01T00:00:00Z")`, `timestamp("2026-01-01T01:00:00+01:00")`, `duration("1h")`, `duration("60m")`, `optional.none()`, `optional.of(1)`, `optional.of("")`,
	}
	for _, a := range list {
		for _, b := range list {
			x, _ := run(t, compiled(t, env, "dyn("+a+")"), names{})
			y, _ := run(t, compiled(t, env, "dyn("+b+")"), names{})
			same, _ := run(t, compiled(t, env, "dyn("+a+") == dyn("+b+")"), names{})
			equal := value.IsTrue(same)
			if alike := indexKey(x) == indexKey(y); equal && !alike {
				t.Errorf("%s and %s are equal, their keys %q and %q are not", a, b, indexKey(x), indexKey(y))
			} else if alike && !equal {
				t.Errorf("%s and %s are not equal, their keys %q are", a, b, indexKey(x))
			}
		}
	}
}
