package explore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportedPage: a page in a file shows every view, and says what it lacks.
func TestExportedPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := examples(t).Export(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	p := open(t, "file://"+file, "light")
	for _, v := range views {
		p.visit(strings.Replace(v.where, "&record=RECORD&about=node-a2", "", 1))
		if p.text("[role=alert]") != "" {
			t.Errorf("%s: %s", v.name, p.text("[role=alert]"))
		}
		switch v.name {
		case "candidates": // the objects as given have none with a name
			p.says("#main-view", "0 candidates")
		case "time":
			p.says("#main-view", "What happens when all policies run")
		case "params":
			p.says("#main-view", "Params can be changed only on a served page.")
		default:
			p.says("#main-view", v.says...)
		}
	}
	p.says("footer", "Not in this file: moving the clock")
}
