package compile

import (
	"strings"
	"testing"
)

// TestFindings: what is right by its types and yet never meant is found when the
// policy is compiled; what is meant is left alone.
func TestFindings(t *testing.T) {
	t.Parallel()
	when := func(expression string) string {
		return "  rules: [{name: r, when: '" + expression + "', do: [{labels: {set: {a: b}}}]}]\n"
	}
	order := func(expression string) string {
		return "  inputs: [{name: nodes, apiVersion: v1, kind: Node, orderBy: ['" + expression + "']}]\n" + when("size(inputs.nodes) > 0")
	}
	const held = "  finalizer: example.com/a\n  children: [{name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: y}}}]\n"
	deployment := func(spec string) string {
		return "  children: [{name: c, apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: y}, spec: {" + spec + "}}}]\n  rules: []\n"
	}
	for name, tc := range map[string]struct{ spec, want string }{
		"a field and null":                    {when("object.metadata.deletionTimestamp == null"), "has(a.b)"},
		"null and a field":                    {when("null != object.spec.providerID"), "has(a.b)"},
		"the object and null":                 {when("object != null"), ""},
		"an optional and none":                {when("object.spec.?providerID.hasValue()"), ""},
		"amounts as texts":                    {when(`object.metadata.labels["cpu"] > "500m"`), "compared letter by letter"},
		"an order of lists":                   {order("item.spec.podCIDRs"), "this gives list(string), of which none comes before another"},
		"an order of objects":                 {order("item.metadata"), "of which none comes before another"},
		"an order of addresses":               {order(`cidr("10.0.0.0/8")`), "of which none comes before another"},
		"an order of quantities":              {order(`quantity(item.status.capacity["cpu"])`), ""},
		"an order of versions":                {order("semver(item.status.nodeInfo.kubeletVersion)"), ""},
		"an order of what may be absent":      {order("item.spec.?podCIDR"), ""},
		"other texts":                         {when(`object.metadata.name > "a"`), ""},
		"a name instead of a value":           {"  rules: [{name: r, do: [{labels: {set: {a: key.name}}}]}]\n", "${key.name} gives the value"},
		"a text that looks alike":             {"  rules: [{name: r, do: [{labels: {set: {a: \"key.name\"}}}]}]\n", ""},
		"a list in a text":                    {"  rules: [{name: r, do: [{log: {message: 'a ${object.spec.podCIDRs}'}}]}]\n", "a list cannot be written inside a text"},
		"metadata of the server, created":     {"  rules: [{name: r, do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, uid: x}}}]}]\n", "metadata.uid cannot be written: the API server sets it"},
		"metadata of the server, applied":     {"  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, resourceVersion: '${object.metadata.resourceVersion}'}}}]}]\n", "metadata.resourceVersion cannot be written"},
		"a time of creation that is null":     {"  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, creationTimestamp: null}}}]}]\n", ""},
		"an object in a text":                 {"  rules: [{name: r, do: [{log: {message: 'a ${object.spec}'}}]}]\n", "an object cannot be written inside a text"},
		"a quantity in a text":                {"  rules: [{name: r, do: [{log: {message: 'a ${quantity(\"1Gi\")} ${semver(\"1.0.0\")}'}}]}]\n", ""},
		"an optional in a text":               {"  rules: [{name: r, do: [{log: {message: 'a ${object.spec.?providerID}'}}]}]\n", `x.orValue("") gives one`},
		"an object without a name":            {"  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a}}}]}]\n", "has no metadata.name"},
		"a name that is generated":            {"  rules: [{name: r, do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-, namespace: a}}}]}]\n", "a policy finds what it has made by its name, so generateName is not possible"},
		"a rule that does nothing":            {"  rules: [{name: r, when: 'true'}]\n", `the rule "r" does nothing`},
		"a rule that stops":                   {"  rules: [{name: r, when: 'true', stop: true}]\n", ""},
		"a plural kind":                       {"  inputs: [{name: x, apiVersion: v1, kind: Pods}]\n  rules: []\n", `did you mean "Pod"?`},
		"a kind with a typo":                  {"  inputs: [{name: x, apiVersion: apps/v1, kind: Deploymnet}]\n  rules: []\n", `did you mean "Deployment"?`},
		"a kind of another group":             {"  inputs: [{name: x, apiVersion: v1, kind: Deployment}]\n  rules: []\n", "write apiVersion: apps/v1"},
		"a number as a condition":             {when("object.metadata.generation"), "compare it, as in x > 0"},
		"a text as a condition":               {when("object.spec.providerID"), `compare it, as in x != ""`},
		"a list as a condition":               {when("object.spec.podCIDRs"), "size(x) > 0"},
		"an optional as a condition":          {when("object.spec.?unschedulable"), "x.orValue(false)"},
		"a map as a list":                     {"  rules: [{name: r, forEach: object.metadata.labels, do: [{log: {message: m}}]}]\n", "m.map(k, k)"},
		"an optional as a list":               {"  rules: [{name: r, forEach: 'object.spec.?podCIDRs', do: [{log: {message: m}}]}]\n", "x.orValue([])"},
		"core/v1":                             {"  inputs: [{name: x, apiVersion: core/v1, kind: Pod}]\n  rules: []\n", "write apiVersion: v1"},
		"a version that is gone":              {"  inputs: [{name: x, apiVersion: extensions/v1beta1, kind: Ingress}]\n  rules: []\n", "Kubernetes no longer serves extensions/v1beta1 / write apiVersion: networking.k8s.io/v1"},
		"the same, of a group that is left":   {"  inputs: [{name: x, apiVersion: policy/v1beta1, kind: PodDisruptionBudget}]\n  rules: []\n", "write apiVersion: policy/v1"},
		"a name of another language":          {when("len(object.spec.podCIDRs) > 1"), "write size(x)"},
		"a variable that comes later":         {"  variables: [{name: a, expression: variables.laterr}, {name: later, expression: 'true'}]\n" + when("variables.a"), `did you mean "variables.later"?`},
		"names with the qualifier":            {"  variables: [{name: later, expression: 'true'}]\n" + when("variables.other"), `names here are variables.later`},
		"a name without its root":             {"  variables: [{name: ready, expression: 'true'}]\n" + when("ready"), `did you mean "variables.ready"?`},
		"metadata left out":                   {when(`object.name == "a"`), "write .metadata.name"},
		"an optional as a value":              {when(`object.spec.?taints.size() > 0 || object.spec.?podCIDR > "a"`), "x.orValue(default)"},
		"a period as a text":                  {when(`elapsed(object.metadata.creationTimestamp, "10m")`), "'elapsed' applied to '(timestamp, string)'"},
		"a key with a blank":                  {"  rules: [{name: r, do: [{labels: {set: {\"a b\": c}}}]}]\n", `"a b" cannot be a key of labels`},
		"a value with a blank":                {"  rules: [{name: r, do: [{labels: {set: {a: \"b c\"}}}]}]\n", `"b c" cannot be the value of a label`},
		"an annotation with blanks":           {"  rules: [{name: r, do: [{annotations: {set: {example.com/Why: \"b c: d\"}}}]}]\n", ""},
		"an item named as the params are":     {"  rules: [{name: r, forEach: object.spec.podCIDRs, as: params, do: [{log: {message: m}}]}]\n", `cannot be named "params": every expression has that name already / take another name`},
		"an item with a word of CEL":          {"  rules: [{name: r, forEach: object.spec.podCIDRs, as: in, do: [{log: {message: m}}]}]\n", "and not a word of CEL"},
		"a finalizer with a blank":            {"  rules: [{name: r, do: [{finalizer: {name: example.com/a b}}]}]\n", `"example.com/a b" cannot be the name of a finalizer`},
		"a finalizer":                         {"  rules: [{name: r, do: [{finalizer: {name: kubernetes}}]}]\n", ""},
		"a finalizer without a domain":        {"  rules: [{name: r, do: [{finalizer: {name: mine}}]}]\n", `"mine" cannot be the name of a finalizer of a Node / name it with a domain, as in example.com/mine`},
		"the same, of a custom resource":      {"  inputs: [{name: w, apiVersion: example.com/v1, kind: Widget, get: key.name}]\n  rules: [{name: r, when: inputs.w != null, do: [{finalizer: {of: inputs.w, name: mine}}]}]\n", "no schema is known for example.com/v1 Widget; its fields are not checked / put its CRD into a folder schemas beside the policies, or name the folder with --schemas"},
		"a finalizer of children":             {held + "  rules: []\n", ""},
		"a bad finalizer of children":         {strings.Replace(held, "example.com/a", "example.com/a/b", 1) + "  rules: []\n", `"example.com/a/b" cannot be the name of a finalizer`},
		"a computed finalizer of children":    {strings.Replace(held, "example.com/a", "${key.name}/a", 1) + "  rules: []\n", "must be known before an evaluation / it may use params"},
		"a finalizer without children":        {"  finalizer: example.com/a\n" + when("true"), "the policy has no children"},
		"the finalizer of children in a rule": {held + "  rules: [{name: r, do: [{finalizer: {name: example.com/a, absent: true}}]}]\n", `"example.com/a" is the finalizer of the policy`},
		"another finalizer in a rule":         {held + "  rules: [{name: r, do: [{finalizer: {name: example.com/b}}]}]\n", ""},
		"the finalizer on another object":     {held + "  rules: [{name: r, do: [{finalizer: {of: {apiVersion: v1, kind: Pod, namespace: x, name: y}, name: example.com/a}}]}]\n", ""},
		"a reason with blanks":                {"  rules: [{name: r, do: [{condition: {type: Ready, status: \"True\", reason: is ready}}]}]\n", `"is ready" cannot be the reason`},
		"a condition without a reason":        {"  rules: [{name: r, do: [{condition: {type: Ready, status: \"True\"}}]}]\n", ""},
		"a condition":                         {"  rules: [{name: r, do: [{condition: {type: example.com/Ready, status: \"True\", reason: IsReady}}]}]\n", ""},
		"a variable that is not used":         {"  variables: [{name: a, expression: '1'}, {name: b, expression: variables.a}]\n" + when("true"), `the variable "b" is used by no rule`},
		"variables of a metric":               {"  variables: [{name: a, expression: string(1)}]\n  metrics: [{name: m_total, of: effect.written, labels: {a: \"${variables.a}\"}}]\n" + when("true"), ""},
		"variables of an input":               {"  variables: [{name: a, expression: key.name}]\n  inputs: [{name: pods, apiVersion: v1, kind: Pod, where: item.spec.nodeName == variables.a}]\n" + when("size(inputs.pods) > 0"), ""},
		"a loop over all in a loop over all":  {"  inputs: [{name: a, apiVersion: v1, kind: Pod}, {name: b, apiVersion: v1, kind: Node}]\n" + when("inputs.a.exists(p, inputs.b.exists(n, n.metadata.name == p.spec.nodeName))"), "for every item of inputs.a this goes through all of inputs.b"},
		"a list by the time alone":            {"  inputs: [{name: a, apiVersion: v1, kind: Pod, where: 'elapsed(item.metadata.creationTimestamp, duration(\"10m\"))'}]\n" + when("size(inputs.a) > 0"), ""},
		"a lookup in a loop":                  {"  inputs: [{name: a, apiVersion: v1, kind: Pod}, {name: b, apiVersion: v1, kind: Node, keyBy: item.metadata.name}]\n" + when("inputs.a.exists(p, p.spec.nodeName in inputs.b)"), ""},
		"and":                                 {when("true and false"), "&&, || and ! are"},
		"not":                                 {when("not true"), "&&, || and ! are"},
		"??":                                  {when(`object.metadata.name ?? "a" == ""`), "x.orValue(default) on an optional"},
		"<>":                                  {when(`object.metadata.name <> "a"`), "!= compares"},
		"a Go template":                       {when(`{{ object.metadata.name }} == "a"`), "without {{ }}"},
		"days":                                {when(`elapsed(object.metadata.creationTimestamp, duration("1d"))`), "there are no days"},
		"=":                                   {when(`object.metadata.name = "a"`), "== compares"},
		"a function of another language":      {when(`object.metadata.name.toLowerCase() == "a"`), "write x.lowerAscii()"},
		"a name of admission policies":        {when(`request.object.metadata.name == "a"`), "write object"},
		"the length of a list":                {when("object.spec.podCIDRs.length > 1"), "size(x), x[0]"},
		"has of a key":                        {when(`has(object.metadata.labels["a"])`), "key in x"},
		"contains of a map":                   {when(`object.metadata.labels.contains("a")`), "key in x"},
		"orValue of a value":                  {when(`object.metadata.name.orValue("a") == "a"`), "a.?b.orValue(default)"},
		"is":                                  {when("object.metadata.name is null"), "== compares; has(a.b)"},
		"let":                                 {when("let x = 1; x > 0"), "write a variable"},
		"numbers of two types":                {when("size(object.spec.podCIDRs) * 0.5 > 1.0"), "double(x) or int(x) makes both of one type"},
		"quantities":                          {when(`quantity("1") > quantity("2")`), "a.isGreaterThan(b)"},
		"the text of a quantity":              {when(`string(quantity("1").add(1)) == "2"`), "quantity.parse(x).value()"},
		"a multiple of a duration":            {when(`duration("1m") * size(key.name) > duration("1h")`), `duration(string(x.getSeconds() * 2) + "s")`},
		"a negative duration":                 {when(`elapsed(object.metadata.creationTimestamp, -duration("1m"))`), `duration("0s") - x`},
		"objects of two types":                {when(`object.status == object.spec`), "dyn(x) == y"},
		"a slice beyond the list":             {when(`[1, 2].slice(0, 3) == [1]`), "math.least(n, size(list)) is an index"},
		"versions":                            {when(`semver("1.0.0") < semver("2.0.0")`), "versions: a.isGreaterThan(b)"},
		"two maps":                            {when(`size(object.metadata.labels + {"a": "b"}) > 1`), "a template with both sets of fields"},
		"a number of more than 32 bits":       {deployment("replicas: 3000000000"), "Deployment.spec.replicas cannot be 3000000000 / a 32-bit integer"},
		"the same as an expression":           {deployment("replicas: \"${3000000000}\""), "Deployment.spec.replicas cannot be 3000000000 / a 32-bit integer"},
		"a number of more than 64 bits":       {deployment("replicas: 9223372036854775808"), "a 64-bit integer"},
		"a boolean for an amount":             {deployment("strategy: {rollingUpdate: {maxSurge: true}}"), "Deployment.spec.strategy.rollingUpdate.maxSurge cannot be true / an integer or a string"},
		"a fraction in a map of CEL":          {deployment("strategy: '${{\"rollingUpdate\": {\"maxSurge\": 1.5}}}'"), "Deployment.spec.strategy.rollingUpdate.maxSurge cannot be 1.5 / an integer or a string"},
		"an amount in percent":                {deployment("strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}"), ""},
		"a text that is no time":              {"  rules: [{name: r, do: [{patch: {list: spec.taints, by: {key: a/b}, entry: {timeAdded: noon}}}]}]\n", "entry.timeAdded cannot be \"noon\" / a date-time such as"},
		"a number of a param":                 {"  params: {n: {type: int, default: 3000000000}}\n" + deployment("replicas: \"${params.n}\""), ""},
		"a computed number":                   {deployment("replicas: \"${size(key.name) + 3000000000}\""), ""},
		"two rows of one name":                {"  rules: [{name: r, cases: [{name: a, when: 'false', do: [{log: {message: x}}]}, {name: a, do: [{log: {message: y}}]}]}]\n", `duplicate row "a" of the rule "r", first on line`},
		"rows without names":                  {"  rules: [{name: r, cases: [{when: 'object.metadata.name == \"a\"', do: [{log: {message: x}}]}, {do: [{log: {message: y}}]}]}]\n", ""},
		"an empty do beside cases":            {"  rules: [{name: r, do: [], cases: [{name: a, do: [{log: {message: x}}]}]}]\n", `the rule "r" has do and cases`},
		"empty cases beside do":               {"  rules: [{name: r, cases: [], do: [{log: {message: x}}]}]\n", `the rule "r" has do and cases`},
		"fail with a mapping":                 {"  rules: [{name: r, do: [{fail: {message: x}}]}]\n", "fail must be a text, not a mapping"},
		"fail with a list":                    {"  rules: [{name: r, do: [{fail: [x]}]}]\n", "fail must be a text, not a list"},
		"fail with an object":                 {"  rules: [{name: r, do: [{fail: \"${object}\"}]}]\n", "fail must be a text, not"},
		"fail with a number":                  {"  rules: [{name: r, do: [{fail: \"${size(object.metadata.name)}\"}]}]\n", ""},
		"a mapping to log":                    {"  rules: [{name: r, do: [{log: {message: {a: b}}}]}]\n", "log.message must be a text, not a mapping"},
		"an event with a mapping":             {"  rules: [{name: r, do: [{event: {reason: A, message: {a: b}}}]}]\n", "event.message must be a text, not a mapping"},
		"an event with a list as its reason":  {"  rules: [{name: r, do: [{event: {reason: [A], message: a}}]}]\n", "event.reason must be a text, not a list"},
		"no number":                           {when(`int("x") > 1`), "this text is no whole number of 64 bits; test it before"},
		"no time":                             {when(`elapsed(timestamp("x"), duration("1h"))`), "RFC 3339"},
		"a text where a number is wanted":     {"  rules: [{name: r, do: [{patch: {value: {spec: {unschedulable: \"is-${key.name}\"}}}}]}]\n", "unschedulable is a boolean, not a string"},
		"a mapping where a text is wanted":    {"  rules: [{name: r, do: [{patch: {value: {spec: {podCIDR: {x: \"${key.name}\"}}}}}]}]\n", "podCIDR is a string, not a mapping"},
		"a number that may be absent":         {"  rules: [{name: r, do: [{labels: {set: {a: \"${optional.of(1)}\"}}}]}]\n", "x.optMap(v, string(v)) makes a text of it"},
		"null or a text":                      {"  rules: [{name: r, do: [{labels: {set: {a: \"${key.name == 'x' ? null : 'y'}\"}}}]}]\n", "or dyn(null)"},
		"a number as a text":                  {"  rules: [{name: r, do: [{labels: {set: {a: \"${size(object.spec.podCIDRs)}\"}}}]}]\n", "string(x) makes a text of it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+tc.spec, PolicyOptions{})
			var out []string
			for _, p := range problems {
				if !strings.Contains(p.Message, "has no rules") {
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

// TestOneProblem: what is wrong in an expression is reported once, and not also as a text that
// stands where a list is wanted.
func TestOneProblem(t *testing.T) {
	t.Parallel()
	_, problems := compiled(t, header+"  rules: [{name: r, do: [{patch: {value: {spec: {podCIDRs: \"${[1, 'a']}\"}}}}]}]\n", PolicyOptions{})
	if len(problems) != 1 {
		t.Errorf("got %v", problems)
	}
}
