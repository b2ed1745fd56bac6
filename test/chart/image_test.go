package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestImageThatIsBuiltIsInstalled: the image that make builds is the one that
// the chart asks for, when no more than the repository is given, and the one
// that the READMEs name.
func TestImageThatIsBuiltIsInstalled(t *testing.T) {
	for name, test := range map[string]struct {
		make, set []string
		want      string
	}{
		"as shipped":   {nil, nil, "edict:"},
		"a repository": {[]string{"IMAGE=registry.example.com/edict"}, []string{"--set", "image.repository=registry.example.com/edict"}, "registry.example.com/edict:"},
	} {
		t.Run(name, func(t *testing.T) {
			list := objects(t, template(t, test.set...))
			image := imageOf(t, find(list, "Deployment", release))
			if !strings.HasPrefix(image, test.want) {
				t.Errorf("the Deployment has the image %s", image)
			}
			if built := builtImages(t, test.make...); !slices.Contains(built, image) {
				t.Errorf("make builds %v, the chart asks for %s", built, image)
			}
			if job := imageOf(t, find(list, "Job", release+"-release")); job != image {
				t.Errorf("the Job has the image %s", job)
			}
			for _, readme := range []string{filepath.Join(root, "README.md"), filepath.Join(chart, "README.md")} {
				text, err := os.ReadFile(readme)
				if err != nil {
					t.Fatal(err)
				}
				if len(test.set) > 0 && !strings.Contains(string(text), image) {
					t.Errorf("%s does not name %s", readme, image)
				}
			}
		})
	}
}

// imageOf returns the image of a workload's only container.
func imageOf(t *testing.T, workload *object) string {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		t.Fatal(err, containers)
	}
	image, _ := containers[0].(map[string]any)["image"].(string)
	return image
}

// builtImages returns the names that make image gives to what it builds.
func builtImages(t *testing.T, arguments ...string) (out []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", append([]string{"--dry-run", "--no-print-directory", "image"}, arguments...)...)
	command.Dir = root
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(text))
	for n, word := range words {
		if word == "-t" {
			out = append(out, words[n+1])
		}
	}
	return out
}
