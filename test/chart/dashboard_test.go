package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dashboard is what Grafana needs of the dashboard.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct{ List []struct{ Name, Type string } }
	Panels        []panel
}

type panel struct {
	ID                       int
	Title, Type, Description string
	Datasource               datasource
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Exemplar                  bool
		Datasource                datasource
	}
}

type datasource struct{ Type, UID string }

func (p *panel) overlaps(other *panel) bool {
	a, b := p.GridPos, other.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// grid is how many columns a dashboard has.
const grid = 24

// TestDashboard: each panel has a number, a place and queries of its own, each query
// is of one installation, and those of histograms show exemplars.
func TestDashboard(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(chart, "files", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion == 0 || len(d.Panels) < 20 {
		t.Errorf("%q, %q, schema %d, %d panels", d.UID, d.Title, d.SchemaVersion, len(d.Panels))
	}
	for i := range d.Panels {
		p := &d.Panels[i]
		checkPanel(t, p)
		for j := range d.Panels[:i] {
			other := &d.Panels[j]
			if p.ID == other.ID || p.Title == other.Title {
				t.Errorf("two panels are %d %q", p.ID, p.Title)
			}
			if p.overlaps(other) {
				t.Errorf("%q lies over %q", p.Title, other.Title)
			}
		}
	}
}

// TestTheDashboardShowsWhatAlertsSay: what an alert is about has a panel, and so have the brakes
// and the scheduler extender.
func TestTheDashboardShowsWhatAlertsSay(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(chart, "files", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	metrics := []string{"edict_kept_back_objects", "edict_policy_holds", "edict_policy_unselected_objects", "edict_extender_requests_total", "edict_extender_circuit_state"}
	for _, rule := range alertRules(t) {
		metrics = append(metrics, regexp.MustCompile(`edict_\w+`).FindAllString(rule.Expr, -1)...)
	}
	for _, name := range metrics {
		if !strings.Contains(string(text), name+"{") {
			t.Errorf("no panel shows %s", name)
		}
	}
}

func checkPanel(t *testing.T, p *panel) {
	t.Helper()
	if g := p.GridPos; p.ID <= 0 || p.Title == "" || g.X < 0 || g.Y < 0 || g.W <= 0 || g.H <= 0 || g.X+g.W > grid {
		t.Errorf("%d %q at %v", p.ID, p.Title, g)
	}
	if !slices.Contains([]string{"stat", "table", "timeseries"}, p.Type) || len(p.Targets) == 0 {
		t.Errorf("%q is a %s with %d queries", p.Title, p.Type, len(p.Targets))
	}
	seen, prometheus := map[string]bool{}, datasource{"prometheus", "${datasource}"}
	for _, q := range p.Targets {
		if q.RefID == "" || seen[q.RefID] || q.LegendFormat == "" && p.Type != "table" || q.Datasource != prometheus || p.Datasource != prometheus {
			t.Errorf("%q has the query %+v", p.Title, q)
		}
		seen[q.RefID] = true
		if n := strings.Count(q.Expr, "edict_"); n == 0 || n != strings.Count(q.Expr, `namespace="$namespace",job=~"$job"}`) {
			t.Errorf("%q is not of one installation: %s", p.Title, q.Expr)
		}
		if q.Exemplar != strings.Contains(q.Expr, "_seconds_bucket") {
			t.Errorf("%q: exemplars %v of %s", p.Title, q.Exemplar, q.Expr)
		}
	}
}
