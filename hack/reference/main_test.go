package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPages: the pages say what the language is now; go run ./hack/reference writes them
// anew.
func TestPages(t *testing.T) {
	t.Parallel()
	pages, err := generate("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range pages {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
