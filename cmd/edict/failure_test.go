package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestFailureAsJSON: with -o json there is one document on standard output also if a
// command fails before it has a result; what it says is on standard error, too.
func TestFailureAsJSON(t *testing.T) {
	t.Parallel()
	const policy, wrong = "testdata/run/policy.yaml", "testdata/check/misspelt-field.yaml"
	for name, tc := range map[string]struct {
		args []string
		code int
		want string // "" is a document of the command's own
	}{
		"no policies":      {[]string{"simulate", "--policies", "nothing", "--objects", "testdata/run/objects.yaml"}, 1, "stat nothing: no such file or directory"},
		"a policy's error": {[]string{"plan", "--policies", wrong, "--objects", "testdata/run/objects.yaml"}, 1, wrong + ":11:23: error: "},
		"no objects":       {[]string{"snapshot", "--policies", policy, "--objects", "nothing"}, 64, "stat nothing: no such file or directory"},
		"an argument":      {[]string{"capture", "cordoned", "--policies", policy}, 64, "accepts 2 arg(s), received 1"},
		"an unknown flag":  {[]string{"plan", policy, "--objetcs", "nothing"}, 64, `unknown flag: --objetcs; did you mean "--objects"?`},
		"no such flag":     {[]string{"plan", "--bogus", "--policies", policy}, 64, "unknown flag: --bogus; see edict plan --help"},
		"a letter":         {[]string{"plan", "-x", "--policies", policy}, 64, "unknown shorthand flag: 'x' in -x; see edict plan --help"},
		"unknown command":  {[]string{"plna", "--policies", policy}, 64, `unknown command "plna"`},
		"a check's own":    {[]string{"check", wrong}, 1, ""},
		"a test's own":     {[]string{"test", "testdata/run/fails.yaml"}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := program(t, append(tc.args, "-o", "json")...)
			var document map[string]any
			if err := json.Unmarshal([]byte(got.stdout), &document); err != nil || got.code != tc.code {
				t.Fatalf("it ends with %d: %v\n%s", got.code, err, got.stdout)
			}
			text, _ := document["error"].(string)
			if !strings.HasPrefix(text, tc.want) || (text == "") != (tc.want == "") || !strings.Contains(got.stderr, text) {
				t.Errorf("the error is %q, on standard error %q", text, got.stderr)
			}
		})
	}
	if got := program(t, "simulate", "--policies", "nothing", "--objects", "nothing"); got.stdout != "" {
		t.Errorf("without -o json there is %q", got.stdout)
	}
}

// TestOneDocumentAfterAPanic: a command that has printed its document, and panics, is not
// followed by another one.
func TestOneDocumentAfterAPanic(t *testing.T) {
	t.Parallel()
	for _, printed := range []string{"", "{}\n"} {
		var stdout, stderr bytes.Buffer
		cmd := root()
		sub := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(cmd.OutOrStdout(), printed)
			panic("a bug")
		}}
		sub.Flags().StringP("output", "o", "", "")
		cmd.AddCommand(sub)
		args := []string{"x", "-o", "json"}
		cmd.SetArgs(args)
		cmd.SetOut(&stdout)
		cmd.SetErr(&stderr)
		ran, err := surviving(t.Context(), cmd)
		failed(ran, args, err)
		var document map[string]any
		if err := json.Unmarshal(stdout.Bytes(), &document); err != nil {
			t.Errorf("after %q: %v in %s", printed, err, stdout.String())
		}
	}
}
