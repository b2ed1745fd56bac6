package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPages: the pages in docs are what the policies say now; go run ./hack/policydocs
// writes them anew.
func TestPages(t *testing.T) {
	t.Parallel()
	pages, err := pagesOf("../../policies", "differences")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 9 {
		t.Errorf("%d pages", len(pages))
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join("../../docs/policies", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
