package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInstructions holds where buildah is missing too: there is nothing but the
// binary and the licences of what it is built of, and nobody is root.
func TestInstructions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range instructions(string(text)) {
		if name, _, _ := strings.Cut(line, " "); name != "LABEL" && name != "ARG" {
			got = append(got, line)
		}
	}
	want := []string{
		"FROM scratch",
		"COPY --chmod=0555 bin/image/edict /edict",
		"COPY --chmod=0444 bin/image/NOTICES bin/image/sbom.cdx.json /licenses/",
		"USER 65532:65532",
		`ENTRYPOINT ["/edict"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Dockerfile (- want, + got):\n%s", diff)
	}
}

// instructions returns the lines of a Dockerfile, continued ones joined.
func instructions(text string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}
