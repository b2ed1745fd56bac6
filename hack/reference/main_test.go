package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReference: the page is what the language is now; go run ./hack/reference writes it
// anew.
func TestReference(t *testing.T) {
	t.Parallel()
	want, err := page("../../docs/schema")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
