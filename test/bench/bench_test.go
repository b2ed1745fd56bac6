package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/edict-dev/edict/test/budget"
)

// TestSidesDecideAlike runs each case with few nodes on both sides, and compares the
// patches that they send.
func TestSidesDecideAlike(t *testing.T) {
	t.Chdir("../..")
	seen := map[string]bool{}
	for _, s := range cases() {
		for _, nodes := range []int{30, 9, 4}[:budget.Of(1, 3)] {
			s.Nodes = max(nodes, s.least)
			name := fmt.Sprintf("%s/%d", s.label(), s.Nodes)
			if seen[name] {
				continue
			}
			seen[name] = true
			t.Run(name, func(t *testing.T) {
				p, err := s.sides(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestSidesThatDifferAreReported: the comparison sees another patch, and a missing one.
func TestSidesThatDifferAreReported(t *testing.T) {
	t.Parallel()
	sent := patches(t, `{"spec":{"nodeName":"a","lvmVolumeGroupThinPoolName":null}}`)
	for name, other := range map[string]string{"another node": `{"spec":{"nodeName":"b"}}`, "another version": `{"spec":{"nodeName":"a"},"metadata":{"resourceVersion":"1"}}`} {
		if compare(sent, patches(t, other)) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if compare(sent, nil) == nil {
		t.Error("a missing patch: no error")
	}
	if err := compare(sent, patches(t, `{"spec":{"nodeName":"a"}}`)); err != nil {
		t.Errorf("a field that is removed where there is none: %v", err)
	}
}

// TestOutput: the file has a row for each case, with the fields that checks read.
func TestOutput(t *testing.T) {
	t.Chdir("../..")
	path := filepath.Join(t.TempDir(), "bench.json")
	var out bytes.Buffer
	if err := command(t.Context(), []string{"-rounds", "1", "-nodes", "100", "-case", "^placed again", "-o", path}, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Rows []map[string]any }
	if err := json.Unmarshal(text, &got); err != nil || len(got.Rows) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	row := got.Rows[0]
	if row["name"] != "placed again" || row["nodes"] != 100.0 || row["goal"] != 10.0 {
		t.Errorf("%v", row)
	}
	ours, theirs := row["edict_cpu_ns"].(float64), row["byhand_cpu_ns"].(float64)
	if ours <= 0 || theirs <= 0 || row["ratio"] != theirs/ours || row["met"] != (theirs/ours >= 10) {
		t.Errorf("the figures do not fit together: %v", row)
	}
}
