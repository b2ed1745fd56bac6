package analyze

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// masked writes a mask: * is everything, . a scalar or the number of items,
// {a, b} fields, each X what is read of every item or value.
func masked(m *value.Mask) string {
	switch {
	case m == nil:
		return "nothing"
	case m.All:
		return "*"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		parts = append(parts, strings.TrimSuffix(name+" "+masked(m.Fields[name]), " ."))
	}
	if m.Each != nil {
		parts = append(parts, "each "+masked(m.Each))
	}
	if len(parts) == 0 {
		return "."
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// flows says where the names of the tests come from, as a policy declares
// them.
func flows(name string) *Flow {
	switch name {
	case "object", "item":
		return From(roots[name])
	case "inputs.pool":
		return From(roots[name])
	case "inputs.widgets", "inputs.byName":
		return ListOf(From(roots[name]))
	case "inputs.byZone":
		return ListOf(ListOf(From(roots[name])))
	}
	return nil
}

// reads returns all that an expression reads whose result is used in full.
func reads(t *testing.T, env *cel.Env, source string) map[string]string {
	t.Helper()
	result, read := Trace(compiled(t, env, source), flows)
	read.Consume(result)
	out := map[string]string{}
	for root, mask := range read {
		out[rootName(root)] = masked(mask)
	}
	return out
}

// TestTraceReads: which parts of which objects an expression reads. An event
// that changes nothing of it wakes nobody.
func TestTraceReads(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for source, want := range map[string]map[string]string{
		// Fields.
		`1 + 2`:                   {},
		`key.name + params.label`: {},
		`object.spec.nodeName`:    {"object": "{spec {nodeName *}}"},
		`object.spec`:             {"object": "{spec *}"},
		`object`:                  {"object": "*"},
		`object.spec.replicas > 3 && item.spec.paused`: {"object": "{spec {replicas *}}", "item": "{spec {paused *}}"},
		`object.spec.free.a.b`:                         {"object": "{spec {free {a {b *}}}}"},
		`dyn(object).spec.nodeName`:                    {"object": "{spec {nodeName *}}"},
		`restart.references(object, item)`:             {"object": "{metadata {namespace *}, spec {template {spec *}}}", "item": "{kind *, metadata {name *, namespace *}}"},
		// Presence.
		`has(object.status)`:              {"object": "{status}"},
		`has(object.status.phase)`:        {"object": "{status {phase}}"},
		`object.?status.phase.hasValue()`: {"object": "{status {phase}}"},
		`size(object.spec.zones)`:         {"object": "{spec {zones}}"},
		`object.spec.zones.size() > 1`:    {"object": "{spec {zones}}"},
		`size(object.spec.limits)`:        {"object": "{spec {limits {each .}}}"},
		`size(object.spec.nodeName)`:      {"object": "{spec {nodeName *}}"},
		// Optionals.
		`object.?status.phase.orValue("")`:                         {"object": "{status {phase *}}"},
		`object.spec.?parts.orValue([])[0].name`:                   {"object": "{spec {parts {each {name *}}}}"},
		`object.?status.?parts.orValue(object.spec.parts)[0].size`: {"object": "{spec {parts {each {size *}}}, status {parts {each {size *}}}}"},
		`optional.of(object.spec).value().nodeName`:                {"object": "{spec {nodeName *}}"},
		`object.?status.or(optional.none()).phase`:                 {"object": "{status {phase *}}"},
		`object.?status.optMap(s, s.phase).orValue("")`:            {"object": "{status {phase *}}"},
		`object.?status.optFlatMap(s, s.?phase).orValue("")`:       {"object": "{status {phase *}}"},
		`optional.ofNonZeroValue(object.spec.nodeName)`:            {"object": "{spec {nodeName *}}"},
		// Conditions.
		`object.spec.paused ? object.spec.nodeName : object.status.phase`: {"object": "{spec {nodeName *, paused *}, status {phase *}}"},
		`(object.spec.paused ? object.spec : item.spec).nodeName`:         {"object": "{spec {nodeName *, paused *}}", "item": "{spec {nodeName *}}"},
		// Lists.
		`object.spec.parts[0].name`:                                                                 {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts[?0].?name`:                                                               {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.first().?name`:                                                           {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.last().?size`:                                                            {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.map(p, p.name)`:                                                          {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.exists(p, p.size > 3)`:                                                   {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.all(p, p.size > 3)`:                                                      {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.exists_one(p, p.size > 3)`:                                               {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.filter(p, p.size > 3)[0].name`:                                           {"object": "{spec {parts {each {name *, size *}}}}"},
		`object.spec.parts.filter(p, p.size > 3).size()`:                                            {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.map(p, p.size > 3, p.name)`:                                              {"object": "{spec {parts {each {name *, size *}}}}"},
		`object.spec.parts.filter(p, p.size > 3)`:                                                   {"object": "{spec {parts {each *}}}"},
		`object.spec.parts.map(p, 1).size()`:                                                        {"object": "{spec {parts}}"},
		`object.spec.parts.map(p, p.name).size()`:                                                   {"object": "{spec {parts {each {name}}}}"}, // it fails where there is no name
		`size([?object.?status.phase])`:                                                             {"object": "{status {phase}}"},
		`size([object.spec.limits[key.name]])`:                                                      {"object": "{spec {limits {each .}}}"},
		`object.spec.parts.map(p, {"n": p})[0].n.name`:                                              {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.map(p, [p])[0][0].name`:                                                  {"object": "{spec {parts {each {name *}}}}"},
		`(object.spec.parts + item.spec.parts)[0].name`:                                             {"object": "{spec {parts {each {name *}}}}", "item": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.slice(0, 2)[0].name`:                                                     {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.reverse()[0].name`:                                                       {"object": "{spec {parts {each {name *}}}}"},
		`[object.spec.parts].flatten()[0].name`:                                                     {"object": "{spec {parts {each {name *}}}}"},
		`dyn([object.spec.parts]).flatten()[0].name`:                                                {"object": "{spec {parts {name *, each {name *}}}}"}, // more than is read, as flatten tells levels apart only when it runs
		`object.spec.parts.distinct()[0].name`:                                                      {"object": "{spec {parts *}}"},
		`object.spec.parts.sortBy(p, p.name)[0].size`:                                               {"object": "{spec {parts {each {name *, size *}}}}"},
		`size(object.spec.parts.sortBy(p, p.name))`:                                                 {"object": "{spec {parts {each {name *}}}}"},
		`size(object.spec.parts.slice(0, object.spec.replicas))`:                                    {"object": "{spec {parts, replicas *}}"},
		`object.spec.parts.slice(0, object.spec.replicas)[0].name`:                                  {"object": "{spec {parts {each {name *}}, replicas *}}"},
		`[object.spec.parts].flatten(object.spec.replicas).size()`:                                  {"object": "{spec {parts *, replicas *}}"},
		`size(object.spec.free.matrix.flatten())`:                                                   {"object": "{spec {free {matrix {each .}}}}"},
		`countDistinct(object.spec.parts, p, p.zone)`:                                               {"object": "{spec {parts {each {zone *}}}}"},
		`object.spec.parts.fold(sum, 0, p, sum + p.size)`:                                           {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.fold(best, object.spec.parts[0], p, p.size > best.size ? p : best).name`: {"object": "{spec {parts {each {name *, size *}}}}"},
		`"a" in object.spec.zones`:                                                                  {"object": "{spec {zones *}}"},
		`conditions.isTrue(object.?status.conditions, "Ready")`:                                     {"object": "{status {conditions {each {status *, type *}}}}"},
		`conditions.isTrue(object.status.conditions, object.spec.nodeName)`:                         {"object": "{spec {nodeName *}, status {conditions {each {status *, type *}}}}"},
		`conditions.since(object.?status.conditions, "Ready")`:                                      {"object": "{status {conditions {each {lastTransitionTime *, type *}}}}"},
		`conditions.find(object.?status.conditions, "Ready").?reason`:                               {"object": "{status {conditions {each {reason *, type *}}}}"},
		`conditions.find(object.?status.conditions, "Ready").hasValue()`:                            {"object": "{status {conditions {each {type *}}}}"},
		`conditions.find(object.?status.conditions, "Ready")`:                                       {"object": "{status {conditions {each *}}}"},
		`conditions.isTrue(dyn(object).status.conditions, "Ready")`:                                 {"object": "{status {conditions {each {status *, type *}}}}"},
		`object.spec.zones.join(",")`:                                                               {"object": "{spec {zones *}}"},
		`object.spec.zones == item.spec.zones`:                                                      {"object": "{spec {zones *}}", "item": "{spec {zones *}}"},
		// Maps.
		`object.metadata.labels["a"]`:                                 {"object": "{metadata {labels {a *}}}"},
		`object.metadata.labels[?"a"]`:                                {"object": "{metadata {labels {a *}}}"},
		`object.metadata.labels.a`:                                    {"object": "{metadata {labels {a *}}}"},
		`object.metadata.labels[params.label]`:                        {"object": "{metadata {labels {zone *}}}"},
		`object.metadata.?labels[?params.label].orValue("")`:          {"object": "{metadata {labels {zone *}}}"},
		`object.metadata.labels[key.name]`:                            {"object": "{metadata {labels {each *}}}"},
		`"a" in object.metadata.labels`:                               {"object": "{metadata {labels {a}}}"},
		`params.label in object.metadata.labels`:                      {"object": "{metadata {labels {zone}}}"},
		`key.name in object.metadata.labels`:                          {"object": "{metadata {labels {each .}}}"},
		`"a" in object.metadata.?labels.orValue({})`:                  {"object": "{metadata {labels {a}}}"},
		`object.metadata.labels.exists(k, k == "a")`:                  {"object": "{metadata {labels {each .}}}"},
		`object.metadata.labels.map(k, k)`:                            {"object": "{metadata {labels {each .}}}"},
		`object.metadata.labels.exists(k, v, v == "a")`:               {"object": "{metadata {labels {each *}}}"},
		`object.metadata.labels.transformList(k, v, k + v)`:           {"object": "{metadata {labels {each *}}}"},
		`object.metadata.labels.transformList(k, v, k)`:               {"object": "{metadata {labels {each .}}}"},
		`object.metadata.labels.transformMap(k, v, v)`:                {"object": "{metadata {labels {each *}}}"},
		`object.spec.parts.transformList(i, p, p.name)`:               {"object": "{spec {parts {each {name *}}}}"},
		`object.spec.parts.exists(i, p, p.size == i)`:                 {"object": "{spec {parts {each {size *}}}}"},
		`object.spec.parts.transformMapEntry(i, p, {p.name: p.size})`: {"object": "{spec {parts {each {name *, size *}}}}"},
		// Inputs, whose items are objects of their own.
		`inputs.pool.spec.nodeName`:                                                        {"inputs.pool": "{spec {nodeName *}}"},
		`inputs.pool == null ? "" : inputs.pool.spec.nodeName`:                             {"inputs.pool": "{spec {nodeName *}}"},
		`inputs.widgets.map(w, w.metadata.name)`:                                           {"inputs.widgets": "{metadata {name *}}"},
		`size(inputs.widgets) > 0`:                                                         {},
		`inputs.widgets[0].spec.nodeName`:                                                  {"inputs.widgets": "{spec {nodeName *}}"},
		`inputs.byName["a"].spec.nodeName`:                                                 {"inputs.byName": "{spec {nodeName *}}"},
		`inputs.byName[?object.spec.nodeName].?spec.paused`:                                {"inputs.byName": "{spec {paused *}}", "object": "{spec {nodeName *}}"},
		`key.name in inputs.byName`:                                                        {},
		`inputs.byName.exists(k, inputs.byName[k].spec.paused)`:                            {"inputs.byName": "{spec {paused *}}"},
		`inputs.byZone["a"].exists(w, w.spec.paused)`:                                      {"inputs.byZone": "{spec {paused *}}"},
		`inputs.byZone[?"a"].orValue([]).size()`:                                           {},
		`inputs.byZone.transformList(z, l, l.map(w, w.spec.nodeName))`:                     {"inputs.byZone": "{spec {nodeName *}}"},
		`inputs.widgets.filter(w, w.spec.paused).map(w, w.metadata.name)`:                  {"inputs.widgets": "{metadata {name *}, spec {paused *}}"},
		`inputs.widgets.exists(w, object.spec.parts.exists(p, p.name == w.metadata.name))`: {"inputs.widgets": "{metadata {name *}}", "object": "{spec {parts {each {name *}}}}"},
		// Functions read all of what they are given.
		`json.encode(object.spec)`:                                    {"object": "{spec *}"},
		`labels.matches(object.spec.selector, item.metadata.?labels)`: {"object": "{spec {selector *}}", "item": "{metadata {labels *}}"},
		`grace.holds(object.spec.startTime, duration("1h"))`:          {"object": "{spec {startTime *}}"},
		`"%s".format([object.spec.nodeName])`:                         {"object": "{spec {nodeName *}}"},
		// A loop's variable hides what is outside of it.
		`object.spec.parts.map(object, object.name)`: {"object": "{spec {parts {each {name *}}}}"},
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, reads(t, env, source)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestTraceHandsOn: what is only handed on is read by whoever uses the result,
// not here.
func TestTraceHandsOn(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for source, want := range map[string][]string{
		`object`: {"object"}, `inputs.pool`: {"inputs.pool"}, `inputs.widgets[0]`: {"inputs.widgets"}, `inputs.byName["a"]`: {"inputs.byName"},
		`inputs.byZone["a"][0]`: {"inputs.byZone"}, `inputs.widgets.filter(w, true)[0]`: {"inputs.widgets"},
		`object.spec.paused ? object : inputs.pool`: {"inputs.pool", "object"}, `inputs.widgets.first().value()`: {"inputs.widgets"},
		`inputs.widgets`: nil, `object.spec`: nil, `"text"`: nil, `{"a": object}`: nil, `[object][0]`: {"object"}, `[object, inputs.pool][0]`: {"inputs.pool", "object"},
		`inputs.byZone.transformList(z, l, l.slice(0, 1)).flatten()[0]`: {"inputs.byZone"}, `dyn([object]).flatten()[0]`: nil,
		`inputs.widgets.slice(0, object.spec.replicas)[0]`: {"inputs.widgets"}, `inputs.widgets.sortBy(w, w.metadata.name)[0]`: {"inputs.widgets"},
	} {
		flow, _ := Trace(compiled(t, env, source), flows)
		found, ok := flow.Roots()
		var got []string
		for _, r := range found {
			got = append(got, rootName(r))
		}
		slices.Sort(got)
		if ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s is %v (%v), want %v", source, got, ok, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for source, want := range map[string][]string{
		`1`:                       nil,
		`object.spec.nodeName`:    {"object"},
		`key.name + params.label`: {"key.name", "params.label"},
		`variables.names.exists(n, n == key.namespace)`:             {"key.namespace", "variables.names"},
		`object.spec.parts.map(item, item.name)`:                    {"object"},
		`grace.holds(now, duration("1s"))`:                          {cel.CallVariable, "now"},
		`size(inputs.widgets) > params.limit ? 1 : initial ? 2 : 3`: {"initial", "inputs.widgets", "params.limit"},
	} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(compiled(t, env, source).Names()))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

func TestReadsMerge(t *testing.T) {
	t.Parallel()
	env := environment(t)
	all := Reads{}
	for _, source := range []string{`object.spec.nodeName`, `object.spec.paused && item.spec.paused`, `object.status`} {
		result, read := Trace(compiled(t, env, source), flows)
		read.Consume(result)
		all.Merge(read)
	}
	all.Add(Object, &value.Mask{Fields: map[string]*value.Mask{"metadata": {}}})
	got := map[string]string{"object": masked(all[Object]), "item": masked(all[roots["item"]])}
	want := map[string]string{"object": "{metadata, spec {nodeName *, paused *}, status *}", "item": "{spec {paused *}}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCompares finds comparisons with the time, whose flip nobody could tell.
func TestCompares(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for source, want := range map[string]bool{
		`now`: false, `string(now)`: false, `{"at": now}`: false, `[now]`: false, `object.spec.startTime > timestamp("2026-01-01T00:00:00Z")`: false,
		`[{"at": now}] + [{"at": object.spec.startTime}]`: false, `"at " + string(now)`: false,
		`now + duration("1h")`: false, `"at " + string(now - duration("1h"))`: false, `now + duration("1h") > object.spec.startTime`: true, `[now] + [object.spec.startTime] == []`: true,
		`now > object.spec.startTime`: true, `now == object.spec.startTime`: true, `now - object.spec.startTime`: true, `[1].exists(x, now > object.spec.startTime)`: true,
		`string(now - duration("1h"))`: false, `string(now - object.spec.startTime)`: true, `now >= timestamp("2026-01-01T00:00:00Z") ? 1 : 2`: true, `string(now) > "2026"`: true,
	} {
		if got := Compares(compiled(t, env, source)); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}
