package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestInit: what is made of each recipe passes the strict check and its tests.
func TestInit(t *testing.T) {
	t.Parallel()
	names := recipeNames()
	if len(names) < 10 {
		t.Fatalf("the recipes are %q", names)
	}
	for _, recipe := range names {
		t.Run(recipe, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "new")
			out, err := execute(t, "init", "my-own", "--from", recipe, "--to", folder)
			if err != nil || !strings.Contains(out, filepath.Join(folder, "my-own_test.yaml")) {
				t.Fatalf("%v\n%s", err, out)
			}
			if out, err := execute(t, "check", "--strict", folder); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if out, err := execute(t, "test", folder); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if out, err := execute(t, "params", "--policies", folder); err != nil || strings.Contains(out, recipe+".") {
				t.Errorf("the policy still has its old name: %v\n%s", err, out)
			}
		})
	}
}

func TestInitRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "x.yaml", "")
	for name, tc := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"no name":         {nil, exitUsage, "needs the name"},
		"a wrong name":    {[]string{"My_Own", "--to", folder}, exitUsage, `a policy cannot be named "My_Own"`},
		"no such recipe":  {[]string{"x", "--from", "job-tll"}, exitUsage, `did you mean "job-ttl"?`},
		"what there is":   {[]string{"x", "--to", folder}, exitFindings, "x.yaml exists, and is not written over: take another name, or another folder with --to"},
		"a list":          {[]string{"--list"}, 0, ""},
		"an unknown flag": {[]string{"x", "--form", "x"}, exitUsage, "unknown flag"},
	} {
		if got := program(t, append([]string{"init"}, tc.args...)...); got.code != tc.code || !strings.Contains(got.stderr, tc.stderr) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
