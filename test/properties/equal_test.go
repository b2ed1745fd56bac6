package properties

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

// equalValues uses data that are equal and yet not the same: how they are written, and of
// which type they are, is seen by what is computed from them.
const equalValues = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: equal}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  inputs:
    - {name: others, apiVersion: v1, kind: ConfigMap}
    - {name: asLarge, apiVersion: v1, kind: ConfigMap, where: quantity(item.data.size) == quantity(object.data.size)}
    - {name: asMany, apiVersion: v1, kind: ConfigMap, where: json.decode(item.data.number) == json.decode(object.data.number)}
    - {name: asOld, apiVersion: v1, kind: ConfigMap, where: '[timestamp(item.data.time)] == [timestamp(object.data.time)]'}
    - {name: ordered, apiVersion: v1, kind: ConfigMap, orderBy: [quantity(item.data.size), semver(item.data.version)]}
  variables:
    - {name: number, expression: json.decode(object.data.number)}
    - {name: size, value: {of: "${quantity(object.data.size)}"}}
    - {name: time, expression: timestamp(object.data.time)}
    - {name: sameTime, expression: "[variables.time]"}
    - {name: numbers, forEach: inputs.others, as: o, value: "${json.decode(o.data.number)}"}
    - {name: sizes, forEach: inputs.others, as: o, value: "${quantity(o.data.size)}"}
    - {name: times, forEach: inputs.others, as: o, value: "${timestamp(o.data.time)}"}
    - {name: distinct, forEach: inputs.others, as: o, value: "${quantity(o.data.size)}", unique: true}
    - {name: versions, forEach: inputs.others, as: o, value: "${semver(o.data.version)}", unique: true, orderBy: [value]}
    - {name: bySize, forEach: inputs.others, as: o, value: "${o.metadata.name}", groupBy: json.encode(quantity(o.data.size))}
  rules:
    - name: scalars
      do: [{annotations: {set: {size: "${json.encode(variables.size.of)}", time: "${string(variables.time)}", times: "${json.encode(variables.sameTime.map(t, string(t)))}"}}}]
    - name: half
      do: [{annotations: {set: {half: "${json.encode(variables.number * 0.5)}"}}}]
    - name: lists
      do: [{annotations: {set: {sizes: "${json.encode(variables.sizes)}", times: "${json.encode(variables.times.map(t, string(t)))}", distinct: "${string(size(variables.distinct))}", versions: "${json.encode(variables.versions)}", bySize: "${json.encode(variables.bySize)}"}}}]
    - name: halves
      forEach: variables.numbers
      as: n
      do: [{log: {message: "${json.encode(n * 0.5)}"}}]
    - name: joins
      do: [{annotations: {set: {joins: "${json.encode([inputs.asLarge, inputs.asMany, inputs.asOld, inputs.ordered].map(l, l.map(o, o.metadata.name)))}"}}}]
    - name: contains
      do: [{annotations: {set: {contains: "${string(quantity(object.data.size) in variables.sizes && semver('1.0.0') in variables.versions)}"}}}]
`

// equalData are values of one key each, of which many are equal.
var equalData = map[string][]string{
	"number":  {"2", "2.0", "-0.0", "0", "2.5"},
	"size":    {"1Gi", "1073741824", "1024Mi", "1", "1000m"},
	"time":    {"2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01Z"},
	"version": {"1.0.0", "1.0.0+a", "1.10.0", "1.2.0", "1.0.0-rc.1"},
}

// TestEqualIsNotTheSame: what replaces an equal value is noticed wherever the two are told
// apart, and indexes find all that is equal.
func TestEqualIsNotTheSame(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "equal.yaml")
	if err := os.WriteFile(file, []byte(equalValues), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := source.Load([]string{file}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Err(); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(budget.Of(4, 20)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			b := newBench(t, bundle)
			b.lazy = seed%2 == 1
			data := map[string]map[string]any{}
			object := func(name string) worlds.Object {
				copied := worlds.Object{}
				maps.Copy(copied, data[name])
				return worlds.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": worlds.Object{"name": name, "namespace": "n"}, "data": copied}
			}
			for i := range 12 {
				name := fmt.Sprint("c", i)
				data[name] = map[string]any{}
				for key, list := range equalData {
					data[name][key] = list[r.IntN(len(list))]
				}
				b.put(object(name), false)
			}
			b.check("the first list", worlds.Start, nil)
			for i := range budget.Of(20, 60) {
				name := fmt.Sprint("c", r.IntN(12))
				for key, list := range equalData {
					if r.IntN(3) == 0 {
						data[name][key] = list[r.IntN(len(list))]
					}
				}
				b.check(fmt.Sprintf("event %d, %s", i, name), worlds.Start, b.put(object(name), false))
			}
		})
	}
}
