package check_test

import (
	"strings"
	"testing"
)

// TestNeverEqual: a text that a field cannot have by its schema is found where the field is
// compared with it.
func TestNeverEqual(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ expression, want string }{
		"equal":                   {`object.spec.type == "ClusterIp"`, `the field cannot be "ClusterIp", so this never equals it (did you mean "ClusterIP"?)`},
		"the other way round":     {`"ClusterIp" == object.spec.type`, `"ClusterIp"`},
		"not equal":               {`object.spec.type != "ClusterIp"`, `"ClusterIp"`},
		"nothing alike":           {`object.spec.type == "Other"`, "one of ClusterIP, ExternalName, LoadBalancer, NodePort"},
		"in a list":               {`object.spec.type in ["ClusterIP", "NodePorts"]`, `"NodePorts"`},
		"an item of a list":       {`"IPv5" in object.spec.?ipFamilies.orValue([])`, `"IPv5"`},
		"the first of a list":     {`object.spec.ipFamilies[0] == "IPv5"`, `"IPv5"`},
		"in a loop":               {`object.spec.ports.exists(p, p.protocol == "HTTP")`, `"HTTP"`},
		"an optional":             {`object.spec.?type == optional.of("ClusterIp")`, `"ClusterIp"`},
		"the value of one":        {`object.spec.?type.value() == "ClusterIp"`, `"ClusterIp"`},
		"another than a default":  {`object.spec.?type.orValue("none") == "ClusterIp"`, `"ClusterIp"`},
		"of an input":             {`inputs.pods.exists(p, p.spec.restartPolicy == "always")`, `did you mean "Always"?`},
		"a kind":                  {`object.kind == "service"`, `did you mean "Service"?`},
		"the kind":                {`object.kind == "Service"`, ""},
		"a value":                 {`object.spec.type == "ClusterIP"`, ""},
		"values":                  {`object.spec.type in ["ClusterIP", "NodePort"]`, ""},
		"the default":             {`object.spec.?type.orValue("none") == "none"`, ""},
		"a computed default":      {`object.spec.?type.orValue(key.name) == "ClusterIp"`, ""},
		"another optional":        {`object.spec.?type.or(optional.of(key.name)).orValue("") == "ClusterIp"`, ""},
		"no text":                 {`object.spec.type == ""`, ""},
		"a param":                 {`object.spec.type == params.type`, ""},
		"a field without an enum": {`object.spec.clusterIP == "none"`, ""},
		"in small letters":        {`object.spec.type.lowerAscii() == "clusterip"`, ""},
		"a label":                 {`object.metadata.labels["type"] == "ClusterIp"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(forNodes, "Node}", "Service}", 1) + "  params: {type: ClusterIp}\n  inputs: [{name: pods, apiVersion: v1, kind: Pod}]\n" +
				"  rules: [{name: r, when: '" + tc.expression + "', do: [{labels: {set: {a: b}}}]}]\n"
			got := strings.Join(findingsWith(t, text), "\n")
			if tc.want == "" && strings.Contains(got, "never equals") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
