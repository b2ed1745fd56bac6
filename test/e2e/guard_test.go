package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/test/controlplane"
)

// TestOpenKinds lists every kind that the API server has by itself, with
// whether policies may write it. A kind that a new version of Kubernetes adds is
// closed.
func TestOpenKinds(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false, "--runtime-config=api/all=true")
	client, err := discovery.NewDiscoveryClientForConfig(c.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, list := range lists {
		version, err := kschema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			state := "closed"
			if guard.Open(schema.GVK{APIVersion: list.GroupVersion, Kind: r.Kind}) {
				state = "open"
			}
			kinds[fmt.Sprintf("%-6s %s\n", state, strings.TrimSuffix(r.Kind+"."+version.Group, "."))] = true
		}
	}
	var lines []string
	for line := range kinds {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	got, path := strings.Join(lines, ""), filepath.Join("testdata", "open-kinds.txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the kinds of the API server (- golden, + now; UPDATE_GOLDEN=1 writes it anew):\n%s", diff)
	}
}
