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
	bits.and bits.negate bits.or bits.rsh bits.xor
	count sum product max min sort
	concat contains endswith format_int indexof indexof_n lower replace split sprintf startswith substring upper
	strings.any_prefix_match strings.any_suffix_match strings.count strings.replace_n strings.reverse strings.split_n
	trim trim_left trim_prefix trim_right trim_space trim_suffix
	regex.is_valid regex.match glob.match glob.quote_meta
	array.concat array.flatten array.reverse array.slice
	object.filter object.get object.keys object.remove object.subset object.union object.union_n
	json.filter json.is_valid json.marshal json.remove json.unmarshal
	base64.decode base64.encode base64.is_valid base64url.decode base64url.encode base64url.encode_no_pad hex.decode hex.encode
	uri.is_valid uri.parse urlquery.decode urlquery.decode_object urlquery.encode urlquery.encode_object uuid.parse
	time.add_date time.clock time.date time.diff time.format time.parse_duration_ns time.parse_ns time.parse_rfc3339_ns time.weekday
	semver.compare semver.is_valid units.parse units.parse_bytes net.cidr_contains net.cidr_intersects net.cidr_is_valid
	is_array is_boolean is_null is_number is_object is_set is_string to_number type_name
`)

// refusals say why a function that OPA has is not allowed, by how its name
// begins.
var refusals = []struct{ prefix, why string }{
	{"http.", "a policy reaches no network"},
	{"net.lookup", "a policy reaches no network"},
	{"net.cidr_expand", "it may give a list of any length"},
	{"net.cidr_contains_matches", "it compares each with each; go through the lists, with net.cidr_contains"},
	{"net.cidr_merge", "it may cost more than an evaluation may"},
	{"net.cidr_overlap", "it is deprecated"},
	{"time.now", "a result must not change by itself; pass a time in the input"},
	{"rand.", "a policy decides the same way each time"},
	{"uuid.rfc4122", "a policy decides the same way each time"},
	{"crypto.hmac.", "a policy has no keys"},
	{"crypto.parse_private_keys", "a policy has no keys"},
	{"crypto.x509.", "a policy reads no keys and checks no certificates"},
	{"crypto.", "pass hash.sha256(x) or hash.fnv1a128(x) in the input"},
	{"io.jwt.", "a policy has no keys and checks no tokens"},
	{"providers.", "a policy has no keys"},
	{"opa.", "a policy does not know the process that runs it"},
	{"rego.", "a policy does not read itself"},
	{"print", "a result is all that a policy gives"},
	{"trace", "a result is all that a policy gives"},
	{"walk", "it may visit more than an evaluation may cost; name the fields"},
	{"numbers.", "it may give a list of any length; go through a list of the input"},
	{"graphql.", "it may cost more than an evaluation may"},
	{"graph.", "it may cost more than an evaluation may; a variable in CEL follows edges with list.fold, a level for each item of a list"},
	{"bits.lsh", "it may give a number of any length"},
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
