package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRememberedWait: a builtin that waits for a remembered time, directly or through a
// variable that is in scope; remembered values for anything else are none of its findings.
func TestRememberedWait(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"directly": {`  rules:
    - {name: r, when: 'elapsed(memory.get("a").orValue(timestamp("2020-01-01T00:00:00Z")), duration("1h"))', do: [{log: {message: x}}]}
`, []string{"7 remembered-wait"}},
		"grace.holds in an action": {`  rules:
    - {name: r, do: [{log: {message: '${grace.holds(memory.get("a").value(), duration("1h"))}'}}]}
`, []string{"7 remembered-wait"}},
		"through variables": {`  variables:
    - {name: a, expression: 'memory.get("a")'}
    - {name: b, expression: variables.a.value()}
    - {name: over, expression: 'elapsed(variables.b, duration("1h"))'}
  rules:
    - {name: r, when: variables.over, do: [{log: {message: x}}]}
`, []string{"9 remembered-wait"}},
		"through a variable of the rule, and one of the same name of another": {`  rules:
    - name: r
      variables: [{name: a, expression: 'memory.get("a").value()'}]
      when: elapsed(a, duration("1h"))
      do: [{log: {message: x}}]
    - name: s
      variables: [{name: a, expression: object.metadata.creationTimestamp}]
      when: elapsed(a, duration("1h"))
      do: [{log: {message: x}}]
`, []string{"9 remembered-wait"}},
		"through a variable of a collection": {`  variables:
    - name: late
      forEach: 'object.spec.?taints.orValue([])'
      as: taint
      variables: [{name: since, expression: 'memory.get(taint.key).value()'}]
      when: elapsed(since, duration("1h"))
  rules:
    - {name: r, when: variables.late.size() > 0, do: [{log: {message: x}}]}
`, []string{"11 remembered-wait"}},
		"through optMap, optFlatMap and lists": {`  rules:
    - {name: a, when: 'memory.get("a").optMap(t, elapsed(timestamp(t), duration("10m"))).orValue(false)', do: [{log: {message: x}}]}
    - {name: b, when: 'memory.get("a").optFlatMap(t, optional.of(elapsed(timestamp(t), duration("10m")))).orValue(false)', do: [{log: {message: x}}]}
    - {name: c, when: 'memory.get("a").optMap(u, [u].all(t, elapsed(timestamp(t), duration("10m")))).orValue(false)', do: [{log: {message: x}}]}
    - {name: d, when: '[memory.get("a").value()].exists(t, elapsed(timestamp(t), duration("10m")))', do: [{log: {message: x}}]}
    - {name: e, when: 'memory.get("a").optMap(t, elapsed(object.metadata.creationTimestamp, duration("10m"))).orValue(false)', do: [{log: {message: x}}]}
`, []string{"7 remembered-wait", "8 remembered-wait", "9 remembered-wait", "10 remembered-wait"}},
		"a remembered period, and a remembered value beside a wait": {`  rules:
    - {name: r, when: 'elapsed(object.metadata.creationTimestamp, memory.get("a").orValue(duration("1h"))) && memory.get("b").orValue(true)', do: [{log: {message: x}}]}
`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, found(t, forNodes+tc.spec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
