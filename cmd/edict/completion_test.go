package main

import (
	"strings"
	"testing"
)

// TestCompletion: the shells get their scripts, and complete what is known.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, err := execute(t, "completion", shell); err != nil || !strings.Contains(out, "edict") {
			t.Errorf("%s: %v", shell, err)
		}
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"commands":              {[]string{"exp"}, "explain\t"},
		"policies":              {[]string{"explain", "--policies", "testdata/run/policy.yaml", ""}, "cordoned\n"},
		"the policy of a flag":  {[]string{"eval", "1", "-f", "testdata/run/policy.yaml", "--policy", ""}, "cordoned\n"},
		"schemas":               {[]string{"schema", "p"}, "policytest\n"},
		"recipes":               {[]string{"init", "--from", ""}, "job-ttl\n"},
		"no files after a name": {[]string{"explain", "--policies", "testdata/run/policy.yaml", "cordoned", ""}, ":4\n"},
	} {
		if out, err := execute(t, append([]string{"__complete"}, tc.args...)...); err != nil || !strings.Contains(out, tc.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
