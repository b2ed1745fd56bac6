package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// allowed are the functions and operators that a module may use. It is a list
// of what is allowed, so that a new version of OPA adds nothing by itself.
var allowed = strings.Fields(`
	assign eq equal neq lt lte gt gte internal.member_2 internal.member_3
	plus minus mul div rem abs round ceil floor
	and or intersection union
	count sum product max min sort
	concat contains endswith format_int indexof lower replace split sprintf startswith substring upper
	strings.any_prefix_match strings.any_suffix_match strings.count strings.replace_n strings.reverse
	trim trim_left trim_prefix trim_right trim_space trim_suffix
	regex.is_valid regex.match glob.match
	array.concat array.reverse array.slice
	object.filter object.get object.keys object.remove object.subset object.union object.union_n
	json.filter json.is_valid json.marshal json.remove json.unmarshal
	base64.decode base64.encode base64.is_valid
	time.add_date time.clock time.date time.diff time.parse_duration_ns time.parse_rfc3339_ns
	semver.compare semver.is_valid units.parse units.parse_bytes net.cidr_contains
	is_array is_boolean is_null is_number is_object is_set is_string to_number type_name
`)

// refusals say why a function that OPA has is not allowed, by how its name
// begins.
var refusals = []struct{ prefix, why string }{
	{"http.", "a policy reaches no network"},
	{"net.lookup", "a policy reaches no network"},
	{"net.", "it may give a list of any length"},
	{"time.now", "a result must not change by itself; pass a time in the input"},
	{"time.", "only times that the input holds are calculated with"},
	{"rand.", "a policy decides the same way each time"},
	{"uuid.", "a policy decides the same way each time"},
	{"crypto.", "a policy has no keys"},
	{"io.jwt.", "a policy has no keys"},
	{"providers.", "a policy has no keys"},
	{"opa.", "a policy does not know the process that runs it"},
	{"rego.", "a policy does not read itself"},
	{"print", "a result is all that a policy gives"},
	{"trace", "a result is all that a policy gives"},
	{"walk", "it may visit more than an evaluation may cost; name the fields"},
	{"numbers.", "it may give a list of any length; go through a list of the input"},
	{"graph", "it may cost more than an evaluation may; a variable in CEL follows edges with list.fold, a level for each item of a list"},
	{"bits.", "it may give a number of any length"},
	{"regex.", "it may cost more than an evaluation may; regex.match is allowed"},
	{"json.", "it may cost more than an evaluation may"},
	{"yaml.", "pass the decoded value in the input"},
	{"strings.render_template", "use sprintf or concat"},
}

// refusal says why a function of OPA is not allowed.
func refusal(name string) string {
	for _, r := range refusals {
		if strings.HasPrefix(name, r.prefix) {
			return r.why
		}
	}
	if b, ok := ast.BuiltinMap[name]; ok && b.IsDeprecated() {
		return "it is deprecated"
	}
	return "only functions that compute from their arguments within limits are"
}

// capabilities are what OPA's compiler is told that exists.
var capabilities = func() *ast.Capabilities {
	c := &ast.Capabilities{
		Features: []string{ast.FeatureRegoV1, ast.FeatureKeywordsInRefs},
		AllowNet: []string{}, // not nil, which would allow every host
	}
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if slices.Contains(allowed, b.Name) {
			c.Builtins = append(c.Builtins, b)
		}
	}
	return c
}()

// Functions returns the names of the functions that a module may call, sorted.
// Operators are left out.
func Functions() []string {
	var names []string
	for _, b := range capabilities.Builtins {
		if b.Infix == "" && !strings.HasPrefix(b.Name, "internal.") {
			names = append(names, b.Name)
		}
	}
	slices.Sort(names)
	return names
}
