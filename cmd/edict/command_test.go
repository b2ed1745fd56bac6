package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// simulated are the arguments of a simulation that works.
func simulated(more ...string) []string {
	return append([]string{"simulate", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--now", "2026-03-01T12:00:00Z"}, more...)
}

// TestExitCodes: 0 when all is well, 1 when something was found, 64 when the
// program was called wrongly; and why, on the standard error.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"nothing":                           {nil, 0, ""},
		"help":                              {[]string{"--help"}, 0, ""},
		"version":                           {[]string{"version"}, 0, ""},
		"an unknown command":                {[]string{"chekc"}, 64, `unknown command "chekc"`},
		"an unknown flag":                   {[]string{"check", "--frob", "x"}, 64, "unknown flag: --frob"},
		"check: nothing to check":           {[]string{"check"}, 64, "no policies: name a file or folder, or - for standard input: edict check PATH... [flags]"},
		"check: an unknown output":          {[]string{"check", "-o", "xml", "testdata/check/fine.yaml"}, 64, `invalid argument "xml" for "-o, --output" flag: it is text, json, sarif or github`},
		"check: fine":                       {[]string{"check", "testdata/check/fine.yaml"}, 0, ""},
		"check: only warnings":              {[]string{"check", "testdata/check/unindexable-join.yaml"}, 0, ""},
		"check: errors":                     {[]string{"check", "testdata/check/misspelt-field.yaml"}, 1, ""},
		"check: unreadable":                 {[]string{"check", "nothing.yaml"}, 1, "edict: stat nothing.yaml: no such file or directory"},
		"test: nothing to test":             {[]string{"test"}, 64, "requires at least 1 arg"},
		"test: a pattern that is none":      {[]string{"test", "--run", "(", "testdata/run"}, 64, "--run: error parsing regexp"},
		"test: an unknown output":           {[]string{"test", "-o", "xml", "testdata/run"}, 64, `invalid argument "xml" for "-o, --output" flag: it is text, json, junit or lcov`},
		"test: passes":                      {[]string{"test", "testdata/run/passes.yaml"}, 0, ""},
		"test: fails":                       {[]string{"test", "testdata/run/fails.yaml"}, 1, ""},
		"test: no case matches":             {[]string{"test", "--run", "nothing like it", "testdata/run"}, 1, `edict: no case matches --run "nothing like it" in testdata/run: `},
		"test: unreadable":                  {[]string{"test", "nothing"}, 1, "no such file or directory"},
		"test: no test there":               {[]string{"test", "testdata/run/policy.yaml"}, 1, "edict: no policy test in testdata/run/policy.yaml: "},
		"simulate: no policies":             {[]string{"simulate", "--objects", "testdata/run/objects.yaml"}, 64, "no policies: name a file or folder"},
		"simulate: no objects":              {[]string{"simulate", "--policies", "testdata/run/policy.yaml"}, 64, `required flag(s) "objects" not set`},
		"simulate: a path that is none":     {simulated("more"), 1, "stat more: no such file or directory"},
		"simulate: paths and flags":         {[]string{"simulate", "testdata/run/policy.yaml", "-f", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml"}, 0, ""},
		"verify: --policies":                {[]string{"verify", "--policies", "testdata/run/policy.yaml", "--objects", os.DevNull}, 1, "has no objects: name manifests"},
		"version: an argument":              {[]string{"version", "more"}, 64, `edict version takes no argument "more": edict version`},
		"a command of kubectl":              {[]string{"apply", "-f", "x"}, 64, `unknown command "apply": a policy is a document in a ConfigMap that a PolicySet runs: edict manifests PATH | kubectl apply -f -`},
		"another one":                       {[]string{"describe", "x"}, 64, `unknown command "describe": edict explain POLICY`},
		"a command of a linter":             {[]string{"lint", "x"}, 64, `unknown command "lint": edict check PATH checks policies`},
		"a word like no command":            {[]string{"frob"}, 64, `unknown command "frob"; the commands are allowances, capture, check, `},
		"--version":                         {[]string{"--version"}, 0, ""},
		"check: a flag for files":           {[]string{"check", "-f", "testdata/check/fine.yaml"}, 0, ""},
		"check: --policies":                 {[]string{"check", "--policies", "testdata/check/fine.yaml"}, 0, ""},
		"check: another flag for files":     {[]string{"check", "-p", "x"}, 64, "policies are named by -f PATH"},
		"check: a namespace":                {[]string{"check", "-n", "x"}, 64, "edict check reads files, and takes the objects of all namespaces in them"},
		"check: a dry run":                  {[]string{"check", "--dry-run", "x"}, 64, "unknown flag: --dry-run; edict plan says what policies would change in a cluster"},
		"rbac: an unknown context":          {[]string{"rbac", "--context", "x", "--kubeconfig", os.DevNull}, 1, `context "x" does not exist`},
		"hold: all namespaces":              {[]string{"hold", "list", "-A"}, 64, "without -n sets are looked for in all namespaces"},
		"rbac: a flag without a value":      {[]string{"rbac", "x", "--bind"}, 64, "flag needs an argument: --bind (print bindings, too, to the ServiceAccounts of this namespace)"},
		"test: other policies":              {[]string{"test", "testdata/run/passes.yaml", "-f", "testdata/check/misspelt-field.yaml"}, 1, ""},
		"test: a kind without a schema":     {[]string{"test", "testdata/run/passes.yaml", "--filename", "testdata/check/no-schema.yaml"}, 1, "warning: no schema is known for example.com/v1 Gadget; its fields are not checked"},
		"simulate: a time that is none":     {simulated("--now", "noon"), 64, `invalid argument "noon" for "--now" flag: invalid time format`},
		"simulate: no duration":             {simulated("--until", "later"), 64, `invalid argument "later" for "--until" flag: it is a duration such as 10m`},
		"simulate: a negative duration":     {simulated("--until", "-1m"), 64, `invalid argument "-1m" for "--until" flag: it is a duration such as 10m`},
		"simulate: an unknown output":       {simulated("-o", "xml"), 64, `invalid argument "xml" for "-o, --output" flag: it is table, yaml or json`},
		"simulate: a param without policy":  {simulated("--param", "label=x"), 64, `--param must be policy.name=value: "label=x"`},
		"simulate: a param without value":   {simulated("--param", "cordoned.label"), 64, `--param must be policy.name=value: "cordoned.label"`},
		"simulate: objects unreadable":      {[]string{"simulate", "--policies", "testdata/run/policy.yaml", "--objects", "nothing"}, 64, "no such file or directory"},
		"simulate: timeline unreadable":     {simulated("--timeline", "nothing"), 64, "no such file or directory"},
		"simulate: works":                   {simulated(), 0, ""},
		"simulate: policies unreadable":     {[]string{"simulate", "--policies", "nothing", "--objects", "testdata/run/objects.yaml"}, 1, "no such file or directory"},
		"simulate: a policy with an error":  {[]string{"simulate", "--policies", "testdata/check/misspelt-field.yaml", "--objects", "testdata/run/objects.yaml"}, 1, "misspelt-field.yaml:11:23: error: "},
		"simulate: no policy there":         {[]string{"simulate", "--policies", "testdata/run/passes.yaml", "--objects", "testdata/run/objects.yaml"}, 1, "no policy found in testdata/run/passes.yaml"},
		"simulate: objects for policies":    {[]string{"simulate", "--policies", "testdata/run/objects.yaml", "--objects", "testdata/run/policy.yaml"}, 1, "no policy found in testdata/run/objects.yaml; "},
		"simulate: an unknown policy":       {simulated("--param", "other.label=x"), 1, `parameters are given for the policy "other", which does not exist`},
		"simulate: an unknown param":        {simulated("--param", "cordoned.lable=x"), 1, `the policy cordoned has no param "lable"`},
		"simulate: a param of no duration":  {simulated("--param", "cordoned.period=long"), 1, `not a duration such as 10m: "long"`},
		"explore: an unreadable file":       {[]string{"explore", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--against", "nothing"}, 1, "no such file or directory"},
		"explore: a port that is none":      {[]string{"explore", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--port", "70000"}, 1, "the page cannot be served"},
		"explore: no place for the page":    {[]string{"explore", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--export", "nothing/page.html"}, 1, "nothing/page.html"},
		"rbac: files and a cluster":         {[]string{"rbac", rbacPolicies, "-n", "a"}, 64, "policies come either from files or from the PolicySets of --namespace"},
		"rbac: an unreadable kubeconfig":    {[]string{"rbac", "-n", "a", "--kubeconfig", "nothing"}, 1, "nothing"},
		"rbac: an unknown output":           {[]string{"rbac", "-o", "xml", rbacPolicies}, 64, `invalid argument "xml" for "-o, --output" flag: it is yaml, json or table`},
		"rbac: a kind nobody knows":         {[]string{"rbac", "testdata/check/no-schema.yaml"}, 1, "example.com/v1 Gadget"},
		"rbac: no policy there":             {[]string{"rbac", "testdata/run/passes.yaml"}, 1, "no policy found"},
		"rbac: unreadable":                  {[]string{"rbac", "nothing"}, 1, "no such file or directory"},
		"params: an unreadable kubeconfig":  {[]string{"params", "-n", "a", "--kubeconfig", "nothing"}, 1, "nothing"},
		"release: nothing named":            {[]string{"release", "--policies", rbacPolicies}, 64, "name what to release, or say --all"},
		"release: all and one":              {[]string{"release", "--policies", rbacPolicies, "--all", "off"}, 64, "name what to release, or say --all"},
		"release: an unknown policy":        {[]string{"release", "--policies", rbacPolicies, "of"}, 1, `there is no policy "of" here; did you mean "off"?`},
		"release: an unreadable kubeconfig": {[]string{"release", "--policies", rbacPolicies, "--all", "--kubeconfig", "nothing"}, 1, "nothing"},
		"params: an unknown output":         {[]string{"params", "--policies", rbacPolicies, "-o", "xml"}, 64, `invalid argument "xml" for "-o, --output" flag: it is table, yaml or json`},
		"params: an unknown policy":         {[]string{"params", rbacPolicies, "other"}, 1, `there is no policy "other" here`},
		"params: unreadable":                {[]string{"params", "--policies", "nothing"}, 1, "no such file or directory"},
		"run: no workers":                   {[]string{"run", "--policies", "testdata/run/policy.yaml", "--workers", "0"}, 64, "--workers must be at least 1"},
		"run: less than no time to stop":    {[]string{"run", "--policies", "testdata/run/policy.yaml", "--stop-timeout", "-1s"}, 64, "--stop-timeout must not be negative"},
		"run: one address for two servers":  {[]string{"run", "--policies", "testdata/run/policy.yaml", "--metrics-bind-address", ":1", "--health-probe-bind-address", ":1"}, 64, "must differ"},
		"run: a selector without a Lease":   {[]string{"run", "--policies", "testdata/run/policy.yaml", "--leader-elect", "--watch-label-selector", "a=b"}, 64, "needs --leader-elect-name"},
		"run: profiles for everybody":       {[]string{"run", "--policies", "testdata/run/policy.yaml", "--pprof-bind-address", "0.0.0.0:6060"}, 64, "--pprof-bind-address"},
		"run: decisions for everybody":      {[]string{"run", "--policies", "testdata/run/policy.yaml", "--decisions-bind-address", "0.0.0.0:4273"}, 64, "--decisions-bind-address"},
		"verify: no objects":                {[]string{"verify", "--policies", "testdata/run/policy.yaml", "--objects", os.DevNull}, 1, "has no objects: name manifests"},
		"explain: an unknown policy":        {[]string{"explain", "other", "a", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml"}, 1, `there is no policy "other" here; the policies are cordoned; edict explain other/a says which policies wrote such an object of a cluster`},
		"capture: objects unreadable":       {[]string{"capture", "cordoned", "a", "--policies", "testdata/run/policy.yaml", "--objects", "nothing"}, 64, "no such file or directory"},
		"snapshot: no place for the file":   {[]string{"snapshot", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--out", "nothing/world.yaml"}, 1, "nothing/world.yaml"},
		"simulate: a file of a folder":      {[]string{"simulate", "--policies", "testdata/run/policy.yaml", "--policies", "./testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml"}, 0, ""},
		"explain: no key":                   {[]string{"explain", "cordoned"}, 64, "edict: \"cordoned\" is not TYPE/NAME, such as deployment/web; if it is a policy, name the object, too: edict explain [SET/]POLICY [NAMESPACE/]NAME | TYPE/NAME [flags]\n"},
		"explain: a field":                  {[]string{"explain", "policy.spec"}, 64, "the fields of policies are in docs/reference.md and edict schema policy"},
		"run: no policies":                  {[]string{"run"}, 64, `at least one of the flags in the group [policies namespace] is required`},
		"run: a fraction of a second":       {[]string{"run", "--policies", "testdata/run/policy.yaml", "--leader-elect", "--leader-elect-lease-duration", "15500ms"}, 64, "--leader-elect-lease-duration must be in whole seconds"},
		"run: an unknown level":             {[]string{"run", "--policies", "testdata/run/policy.yaml", "--log-level", "loud"}, 64, "loud"},
		"run: an unreadable kubeconfig":     {[]string{"run", "--policies", "testdata/run/policy.yaml", "--kubeconfig", "nothing"}, 1, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := program(t, tc.args...)
			if got.code != tc.code {
				t.Errorf("it ends with %d, not with %d\n%s%s", got.code, tc.code, got.stdout, got.stderr)
			}
			if !strings.Contains(got.stderr, tc.stderr) || tc.stderr == "" && got.stderr != "" {
				t.Errorf("stderr is %q, want %q", got.stderr, tc.stderr)
			}
		})
	}
}

// TestNoCluster: who gives none is told how to.
func TestNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", os.DevNull)
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{
		{"params", "-n", "a"}, {"rbac", "-n", "a"}, {"shadow", "-n", "a"},
		{"release", "--policies", rbacPolicies, "--all"}, {"run", "--policies", rbacPolicies},
	} {
		got := program(t, args...)
		if want := "edict: no cluster configured: set --kubeconfig or $KUBECONFIG\n"; got.code != 1 || got.stderr != want {
			t.Errorf("%v ends with %d: %s", args, got.code, got.stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	out, err := execute(t, "version")
	if err != nil || !strings.HasPrefix(out, "edict development\ngo1.") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTestOutputsGolden(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"text": nil, "coverage": {"--coverage"}, "some": {"--run", "nothing to"}, "json": {"-o", "json"}, "junit": {"-o", "junit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, append([]string{"test", "testdata/run"}, args...)...)
			out = regexp.MustCompile(`time="[0-9.]+"`).ReplaceAllString(out, `time="0"`)
			out = strings.ReplaceAll(out, "\u00a0", " ") // go-cmp writes either
			golden(t, "testdata/run/test."+name+".golden", out+outcome(err))
			switch name {
			case "json":
				wellFormed(t, json.Unmarshal([]byte(out), &map[string]any{}))
			case "junit":
				wellFormed(t, xml.Unmarshal([]byte(out), &junitSuite{}))
			}
		})
	}
}

func wellFormed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestSimulateOutputsGolden(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"table":    nil,
		"until":    {"--until", "2h"},
		"timeline": {"--timeline", "testdata/run/timeline.yaml", "--until", "30m"},
		"yaml":     {"-o", "yaml"},
		"json":     {"-o", "json", "--param", "cordoned.label=example.com/other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, simulated(args...)...)
			golden(t, "testdata/run/simulate."+name+".golden", out+outcome(err))
		})
	}
}

func TestSimulateNothingToDo(t *testing.T) {
	t.Parallel()
	objects := write(t, t.TempDir(), "none.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
	out, err := execute(t, "simulate", "--policies", "testdata/run/policy.yaml", "--objects", objects)
	if err != nil || !strings.HasPrefix(out, "Nothing to write: the world is as the policies want it.\n") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestParseParams(t *testing.T) {
	t.Parallel()
	got, err := parseParams([]string{"a.b=c", "a.d=e=f", "g.h="})
	want := map[string]map[string]string{"a": {"b": "c", "d": "e=f"}, "g": {"h": ""}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{"", "a", "a=b", "a.=b", ".a=b", "=b"} {
		if _, err := parseParams([]string{bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
