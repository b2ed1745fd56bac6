package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/engine/source"
)

// TestUnlimited: the keys of the copies of the policies are divided among the shards,
// those of the policies are not.
func TestUnlimited(t *testing.T) {
	t.Chdir("../..")
	folder, err := unlimited(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for in, whole := range map[string]bool{"policies": true, folder: false} {
		for _, name := range policyFiles {
			b, err := source.Load([]string{filepath.Join(in, name)}, source.Options{Schemas: []string{filepath.Join("policies", "schemas")}})
			if err != nil || b.Err() != nil {
				t.Fatal(err, b.Err())
			}
			if got := shards.Needs(b.Policies[0]) != ""; got != whole {
				t.Errorf("%s in %s: all keys in one shard: %t", name, in, got)
			}
		}
	}
}

// TestWithoutLimits: only the section goes, and a policy that has none is not what this
// was written for.
func TestWithoutLimits(t *testing.T) {
	t.Parallel()
	const before, after = "spec:\n  for: {}\n", "  rules:\n    - limits: 1\n"
	got, err := withoutLimits([]byte(before + "  limits:\n    changes: {}\n    removals: {}\n" + after))
	if err != nil || string(got) != before+after {
		t.Errorf("%s\n%v", got, err)
	}
	if _, err := withoutLimits([]byte(before + after)); err == nil {
		t.Error("no error")
	}
}

// TestArguments: processes share the work under names of their own; one without shards
// has no Lease.
func TestArguments(t *testing.T) {
	t.Parallel()
	if got := sharingArgs("p", false); got != nil {
		t.Errorf("%q", got)
	}
	got := sharingArgs("p", true)
	if i := slices.Index(got, "--leader-elect-identity"); i < 0 || got[i+1] != "p" || !slices.Contains(got, "--shards") {
		t.Errorf("%q", got)
	}
}
