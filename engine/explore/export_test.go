package explore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// TestSecretsAreHidden: no answer, and no exported page, has the value of a Secret
// that a policy reads, also where it is in an error or in what a policy writes.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	leaky := strings.Replace(place, `{fail: "it is ${inputs.secret.data.token}"}`, `{annotations: {set: {token: "${inputs.secret.data.token}"}}}, {fail: "it is ${inputs.secret.data.token}"}`, 1)
	open := func(text string) *source.Bundle {
		b := load(t, text)
		for _, p := range b.Policies {
			p.SeeValues(schema.GVK{APIVersion: "v1", Kind: "Secret"})
		}
		return b
	}
	list, err := simulate.ParseObjects("objects.yaml", []byte(objects+"---\n"+secretObject))
	if err != nil {
		t.Fatal(err)
	}
	writes := strings.Replace(leaky, `, {fail: "it is ${inputs.secret.data.token}"}`, "", 1)
	for name, bundles := range map[string][2]string{"an error": {leaky, place}, "a write": {writes, place}, "an error before": {place, writes}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := New(Options{Bundle: open(bundles[0]), Against: open(bundles[1]), Objects: list, Start: start, Guard: guard.New(nil).Assuming()})
			var page strings.Builder
			if err := w.Export(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			if strings.Count(page.String(), "aHVudGVyMg")+strings.Count(page.String(), "hunter2") > 0 {
				t.Error("the value is in the page")
			}
			if !strings.Contains(page.String(), "hidden: the policy reads values of Secrets") {
				t.Error("nothing is hidden: the test shows nothing")
			}
		})
	}
}

// TestExport: the page needs nothing else, and a text of the world ends no script.
func TestExport(t *testing.T) {
	t.Parallel()
	b := load(t, strings.Replace(place, "# places Pods", "# </script><script>alert(1)</script>", 1))
	list, err := simulate.ParseObjects("objects.yaml", []byte(objects))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := New(Options{Bundle: b, Objects: list, Start: start, Guard: guard.New(nil).Assuming()}).Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"src=", `rel="stylesheet"`, `from "./`, "alert(1)</script>", "http-equiv=\"refresh"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	_, rest, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data exported
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"world", "graph", "timeline?horizon=3600", "keys?policy=place", "text?policy=follow", "decision?key=east/p&policy=place"} {
		if data.Answers[question] == nil {
			t.Errorf("the answer to %s is missing", question)
		}
	}
	if len(data.LeftOut) == 0 {
		t.Error("the page does not say what it lacks")
	}
}

// TestModules: the list of scripts is what the page has, each before those that
// import it.
func TestModules(t *testing.T) {
	t.Parallel()
	entries, err := embedded.ReadDir("web")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range append([]string{}, append(modules, "main.js")...) {
		text, err := embedded.ReadFile("web/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, from, imports := strings.Cut(line, ` from "./`); imports && !known[strings.TrimSuffix(strings.TrimSpace(from), `";`)] {
				t.Errorf("%s imports a module that is not before it: %s", name, line)
			}
		}
		known[name] = true
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".js") && !known[e.Name()] {
			t.Errorf("%s is not exported", e.Name())
		}
	}
}
