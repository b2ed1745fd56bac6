package live_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Node}
  params: {value: {default: x}}
  rules:
    - {name: mark, when: '!object.?spec.unschedulable.orValue(false)', do: [{labels: {set: {mark: "${params.value}"}}}]}
`

// kinds are documents for several kinds, and for a list of one.
const kinds = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: two}
spec:
  for: {kinds: [{apiVersion: v1, kind: Node}, {apiVersion: v1, kind: Namespace}]}
  rules: [{name: note, do: [{labels: {set: {two: a}}}]}]
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: one}
spec:
  for: {kinds: [{apiVersion: v1, kind: Node}]}
  rules: [{name: note, do: [{labels: {set: {one: a}}}]}]
`

func serve(t *testing.T, leads bool, more ...string) *httptest.Server {
	t.Helper()
	controllers := controllers(t, more...)
	server := httptest.NewServer(live.Handler(func() (live.Controllers, bool) { return controllers, leads }))
	t.Cleanup(server.Close)
	return server
}

func controllers(t *testing.T, more ...string) live.Controllers {
	t.Helper()
	b := fixture.CompiledWith(t, map[string]map[string]string{"mark": {"value": "y"}}, append([]string{policy}, more...)...)
	objects := fixture.Objects(t, "{apiVersion: v1, kind: Node, metadata: {name: a}}", "{apiVersion: v1, kind: Node, metadata: {name: b}, spec: {unschedulable: true}}")
	log := &record.Log{Size: 1, Prefix: "p-"} // that of a is gone
	sim := fixture.Simulation(t, b, objects, log)
	sim.Settle(t.Context())
	return live.Controllers{Log: log, Group: sim.Group(), Guard: guard.New(nil).Assuming()}
}

func get(t *testing.T, server *httptest.Server, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	server := serve(t, true)
	for name, tc := range map[string]struct {
		path string
		code int
		want string
	}{
		"a record":               {live.Path + "?policy=mark&name=b", 200, `"id":"p-`},
		"its rule":               {live.Path + "?policy=mark&name=b", 200, `"outcome":"skipped"`},
		"a fresh evaluation":     {live.Path + "?policy=mark&name=a", 200, `"id":"0","at"`},
		"no such object":         {live.Path + "?policy=mark&name=c", 404, "there is no such object: Node c"},
		"no such policy":         {live.Path + "?policy=other&name=a", 404, `no such policy runs: "other"`},
		"a test":                 {live.CapturePath + "?policy=mark&name=a&policies=p.yaml", 200, "value: \"y\""},
		"a test of the policy":   {live.CapturePath + "?policy=mark&name=a&policies=p.yaml", 200, "- p.yaml"},
		"a test of a revision":   {live.CapturePath + "?policy=mark&name=a&policies=p.yaml&revision=other", 409, "another revision of the policy decides now: "},
		"another path":           {"/other", 404, "404"},
		"only reads of the path": {live.Path + "/x", 404, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := get(t, server, tc.path)
			if code != tc.code || !strings.Contains(body, tc.want) {
				t.Errorf("%d: %s", code, body)
			}
		})
	}
	_, body := get(t, server, live.Path+"?policy=mark&name=b")
	var answer live.Answer
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Kind != "Node" || answer.Decision.Key.Name != "b" {
		t.Errorf("%v: %s", err, body)
	}
}

// TestNames: what runs is found by its name, and the name of a document says which
// policies there are.
func TestNames(t *testing.T) {
	t.Parallel()
	server := serve(t, true, kinds)
	for name, want := range map[string]string{
		"marc": "404 no such policy runs: \"marc\"; did you mean \"mark\"?\n",
		"two":  "404 no such policy runs: \"two\" is a policy for each of several kinds: name one of two-namespace, two-node\n",
		"one":  `200 {"kind":"Node"`,
	} {
		code, body := get(t, server, live.Path+"?policy="+name+"&name=b")
		if got := fmt.Sprint(code, " ", body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDecisionsElsewhere(t *testing.T) {
	t.Parallel()
	if code, body := get(t, serve(t, false), live.Path+"?policy=mark&name=a"); code != http.StatusServiceUnavailable || !strings.Contains(body, "does not lead") {
		t.Errorf("%d: %s", code, body)
	}
}

// TestWrites: the writes of an object are found by its name, whatever its version, with what
// they changed.
func TestWrites(t *testing.T) {
	t.Parallel()
	c := controllers(t)
	r := c.Log.Last("mark", eval.Key{Name: "b"})
	if r == nil {
		t.Fatal("no record")
	}
	node := world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "Node"}, "", "b")
	wrote := apply.Outcome{Effect: &eval.Effect{
		Rules: []string{"mark"}, Verb: eval.VerbPatch, Target: node,
		Before: value.Field("metadata", value.Field("name", value.OfString("b"))), Patch: value.Field("metadata", value.Field("labels", value.Field("mark", value.OfString("y")))),
	}}
	r.Outcomes = []apply.Outcome{wrote, {Effect: wrote.Effect, Skipped: true}}
	server := httptest.NewServer(live.Handler(func() (live.Controllers, bool) { return c, true }))
	defer server.Close()
	for query, want := range map[string][]record.WriteDocument{
		"apiVersion=v2&kind=Node&name=b": {{
			At: r.At.UTC(), Reconcile: r.ID(), Policy: "mark", Rule: "mark", Key: "b", Verb: "patch",
			Target: record.ObjectOf(node), WokenBy: r.Wakes(), Fields: []string{"metadata.labels.mark"},
		}},
		"apiVersion=v1&kind=Node&name=a":      nil,
		"apiVersion=apps/v1&kind=Node&name=b": nil,
	} {
		code, body := get(t, server, live.WritesPath+"?"+query)
		var got live.Writes
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != http.StatusOK || !got.Since.Equal(r.At) {
			t.Fatalf("%s: %d %v %s", query, code, err, body)
		}
		if diff := cmp.Diff(want, got.Writes, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s -want +got:\n%s", query, diff)
		}
	}
}
