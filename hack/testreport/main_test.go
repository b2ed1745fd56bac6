package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const events = `{"Action":"start","Package":"a"}
{"Action":"output","Package":"a","Test":"TestOne","Output":"noise\n"}
{"Action":"pass","Package":"a","Test":"TestOne","Elapsed":1}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"output","Package":"a","Output":"ok  \ta\t1.5s\n"}
{"Action":"pass","Package":"a","Elapsed":1.5}
{"Action":"skip","Package":"b","Test":"TestTwo","Elapsed":0}
{"Action":"output","Package":"b","Test":"TestThree","Output":"--- FAIL: TestThree (0.00s)\n"}
{"Action":"fail","Package":"b","Test":"TestThree","Elapsed":0}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.5s\n"}
{"Action":"fail","Package":"b","Elapsed":0.5}
`

// TestReport prints packages and what failed, and keeps the times for the summary.
func TestReport(t *testing.T) {
	t.Parallel()
	times := filepath.Join(t.TempDir(), "times.txt")
	var out strings.Builder
	if err := report(strings.NewReader(events), &out, times); err == nil {
		t.Error("no error although a test failed")
	}
	if diff := cmp.Diff("ok  \ta\t1.5s\n--- FAIL: TestThree (0.00s)\nFAIL\tb\t0.5s\n", out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := report(strings.NewReader(strings.Join(strings.SplitAfter(events, "\n")[:6], "")), &out, times); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := summarize(&out, times); err != nil {
		t.Fatal(err)
	}
	want := "skipped: b TestTwo\nthe slowest of 2 packages, which took 4 s together; 1 tests were skipped:\n     3.0 s  a\n     0.5 s  b\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := os.Stat(times); err != nil {
		t.Error(err)
	}
}
