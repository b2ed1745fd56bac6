package bombs

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/bombs/child"
	"github.com/edict-dev/edict/test/budget"
)

// testBomb is a policy with a test beside it, as in a ConfigMap, and what comes of it.
type testBomb struct {
	spec, cases, want string
}

const (
	toRest = "there are more than 64 MiB of writes"
	world  = "objects: [{apiVersion: v1, kind: ConfigMap, metadata: {namespace: d, name: a}}]"
)

const expectNothing = "      expect: {effects: []}\n"

// creating is a policy that creates many ConfigMaps with a text.
func creating(n int, text string) string {
	return primary + fmt.Sprintf("  rules:\n    - name: r\n      forEach: \"lists.range(object.metadata.name == 'a' ? %d : 0)\"\n      as: i\n      do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: d, name: 'x${i}'}, data: {text: '%s'}}}]\n", n, text)
}

// thousands is a text of 10,000 bytes.
const thousands = "${lists.range(100).map(i, \"" + hundred + "\").join()}"

const hundred = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// seventy is a text of 70,000 bytes.
var seventy = "${lists.range(35).map(i, \"" + rep("a", 2000) + "\").join()}"

var testBombs = map[string]testBomb{
	"ever more objects": {primary + "  rules:\n    - name: r\n      do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: d, name: '${object.metadata.name.size() > 100 ? hash.sha256(object.metadata.name) : object.metadata.name}x'}, data: {text: '" + thousands + "'}}}]\n",
		"    - name: one\n      " + world + "\n" + expectNothing, toRest},
	"many objects, all of them shown": {creating(5000, "a"), "    - name: one\n      " + world + "\n" + expectNothing, "not shown"},
	"long texts":                      {creating(400, seventy+"${i}"), "    - name: one\n      " + world + "\n" + expectNothing, "not shown"},
	"many cases that fail": {creating(320, seventy+"${i}"),
		strings.Repeat("    - name: one\n      "+world+"\n"+expectNothing, budget.Of(4, 40)), "not shown"},
	"many errors": {primary + "  rules:\n    - name: r\n      forEach: lists.range(5000)\n      as: i\n      do: [{log: {level: info, message: '${i / 0}'}}]\n",
		strings.Repeat("    - name: one\n      "+world+"\n"+expectNothing, budget.Of(10, 40)), "division by zero"},
	"the names of a matrix in a long text": {creating(1, "a"), "    - name: one\n      matrix: [{x: " + rep("a", 100_000) + "}]\n      objects: [{data: '" + rep("$(x)", 30_000) + "'}]\n", "more than 16 MiB"},
}

// failures runs the tests of a bomb as the controller does.
func (b testBomb) failures(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file := load.Source{Path: "bomb.yaml", Text: []byte("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: bomb}\nspec:\n" + b.spec)}
	found, problems := load.Documents(file.Path, file.Text)
	if err := document.Join(problems); err != nil {
		t.Fatal(err)
	}
	tests := load.Source{Path: "bomb.test.yaml", Text: []byte("apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: bomb}\nspec:\n  cases:\n" + b.cases)}
	report, err := policytest.RunEmbedded(ctx, policytest.Embedded{
		Tests: []load.Source{tests}, Units: []*source.Unit{{Document: found.Policies[0], File: file}}, Schemas: schema.Builtin(),
	})
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, c := range report.Cases {
		out = append(out, c.Failures...)
	}
	return strings.Join(out, "\n")
}

// TestTests: a policy test, which runs beside the caches of a controller, ends before it
// takes much memory.
func TestTests(t *testing.T) {
	if child.Asked() != "" {
		t.Skip("this is a child")
	}
	for name := range testBombs {
		t.Run(name, func(t *testing.T) {
			u := child.Run(t.Context(), "TestTestsChild", name)
			if u.Err != nil || u.Resident > maxTests {
				t.Errorf("%v, %d MiB, %v\n%s", u.Err, u.Resident>>20, u.CPU, tail(u.Output))
			}
			t.Logf("%d MiB, %v", u.Resident>>20, u.CPU)
		})
	}
}

// maxTests is what a process that runs tests may have resident, in bytes.
const maxTests = 400 << 20

// TestTestsChild is what a child runs.
func TestTestsChild(t *testing.T) {
	name := child.Asked()
	if name == "" {
		t.Skip("this is no child")
	}
	child.Limit(t)
	b := testBombs[name]
	got := b.failures(t)
	if !strings.Contains(got, b.want) {
		t.Errorf("got %.1000q, want %q", got, b.want)
	}
}
