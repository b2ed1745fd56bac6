// Package engine_test checks what concerns all packages of the engine
// together: the direction of their imports, and that none of them knows the
// domain of a policy.
package engine_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/edict-dev/edict/"

// layers are the packages from the lowest to the highest. A package imports
// packages of lower layers only, never one of its own. A new package gets the
// lowest place at which that holds.
var layers = [][]string{
	// What API servers allow.
	{"engine/schema/validation"},
	// What texts, kinds and metrics are.
	{"engine/document", "engine/schema", "engine/identity", "engine/scan", "engine/week", "engine/lsp/rpc", "engine/lsp/fielddoc"},
	// Values, and the documents.
	{"engine/value", "engine/observe", "engine/api/v1alpha1"},
	// What the children of a policy come to.
	{"engine/children"},
	// Bytes to documents; the read model; the seam of the languages.
	{"engine/load", "engine/scaffold", "engine/selector", "engine/status", "engine/world", "engine/expr"},
	// What writes are tried on; the steps in which a revision comes into force;
	// expressions without an interpreter; work in a process of its own.
	{"engine/apiserver", "engine/rollout", "engine/expr/direct", "engine/child"},
	// A language, and what it may call.
	{"engine/expr/cel", "engine/expr/rego", "builtins/*"},
	// What expressions depend on.
	{"engine/analyze"},
	// The waist: a compiled policy.
	{"engine/plan", "builtins"},
	// One step of deciding.
	{"engine/eval/selection"},
	// What makes plans, and what decides by them.
	{"engine/compile", "engine/eval", "engine/rbac"},
	// What a policy may write.
	{"engine/guard"},
	// Where policies come from; what they read; events to keys; decisions to writes.
	{"engine/source", "engine/watch", "engine/apply", "engine/brake", "engine/readmodel"},
	// What decisions depended on.
	{"engine/record"},
	// The loop; what is kept of policies; what wakes what.
	{"engine/reconcile", "engine/history", "engine/graph"},
	// Sets of objects with the fields that policies read.
	{"engine/snapshot", "engine/cluster", "engine/explain", "engine/coverage"},
	// What drives it by manifests and a virtual clock.
	{"engine/simulate"},
	// The results of simulations, and how two of them differ; what is wrong with policies.
	{"engine/check", "engine/policytest", "engine/compare", "engine/capture", "engine/probe", "engine/verify"},
	// How much tests notice.
	{"engine/mutation"},
	// A page to look at decisions.
	{"engine/live", "engine/explore", "engine/lsp"},
	// Parts of a controller: certificates, requests, ConfigMaps, Events, the state of
	// policies, and what a cluster serves.
	{
		"engine/run/brakes", "engine/run/certs", "engine/run/discovery", "engine/run/events",
		"engine/run/lifecycle", "engine/run/metrics", "engine/run/tracing", "engine/run/writer", "engine/release",
	},
	// What a policy needs, and what it reads.
	{"engine/run/check", "engine/run/informers", "engine/run/requirements"},
	// What runs policies, and what checks them before they are stored.
	{"engine/run/controller", "engine/run/webhook"},
	// The policies of ConfigMaps.
	{"engine/run/policies"},
	// The process in a cluster.
	{"engine/run"},
	// Flags and wiring.
	{"cmd/edict"},
}

// packages returns the imports of every package below some folders of the
// module, without those of tests. It reads the files itself, so that go test
// knows what a result depends on.
func packages(t *testing.T, folders ...string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", folder), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || !isSource(entry) {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../")
			for _, spec := range parsed.Imports {
				out[name] = append(out[name], strings.Trim(spec.Path.Value, `"`))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func isSource(entry fs.DirEntry) bool {
	name := entry.Name()
	return !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// own returns a package of this module without the module's name; "" and false
// for any other package.
func own(imported string) (name string, ours bool) {
	if name, ours = strings.CutPrefix(imported, module); !ours {
		return "", false
	}
	return name, true
}

// layerOf returns a package's place in the table, -1 when it has none.
func layerOf(name string) int {
	return slices.IndexFunc(layers, func(layer []string) bool {
		return slices.ContainsFunc(layer, func(pattern string) bool {
			match, err := path.Match(pattern, name)
			return err == nil && match
		})
	})
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	all := packages(t, "engine", "builtins", "cmd")
	for name, imports := range all {
		at := layerOf(name)
		if at < 0 {
			t.Errorf("%s has no place in the table of layers", name)
			continue
		}
		for _, imported := range imports {
			if lower, ok := own(imported); ok && layerOf(lower) >= at {
				t.Errorf("%s (layer %d) imports %s (layer %d)", name, at, lower, layerOf(lower))
			}
		}
	}
	for _, name := range slices.Concat(layers...) {
		if _, err := os.Stat(filepath.Join("..", name)); err != nil && !strings.Contains(name, "*") {
			t.Errorf("the table of layers names %s, which does not exist", name)
		}
	}
}

// cluster are the packages that may speak to one.
var cluster = []string{
	"engine/run", "engine/run/brakes", "engine/run/certs", "engine/run/controller", "engine/run/discovery",
	"engine/run/events", "engine/run/informers", "engine/run/policies", "engine/run/requirements", "engine/run/webhook",
	"engine/run/writer", "engine/release", "engine/cluster",
}

// TestFewSpeakToACluster keeps everything that decides free of clients:
// it is tested with plain tables, without a cluster and without waiting.
func TestFewSpeakToACluster(t *testing.T) {
	t.Parallel()
	for name, imports := range packages(t, "engine", "builtins") {
		for _, imported := range imports {
			if !slices.Contains(cluster, name) && within(imported, "sigs.k8s.io/controller-runtime", "k8s.io/client-go") {
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// TestBuiltinsArePlain keeps builtins apart from the languages that call them,
// and from one another.
func TestBuiltinsArePlain(t *testing.T) {
	t.Parallel()
	for name, imports := range packages(t, "builtins") {
		for _, imported := range imports {
			inner, ours := own(imported)
			switch {
			case slices.Contains([]string{"engine/document", "engine/expr", "engine/value", "engine/selector", "engine/scan", "engine/week"}, inner):
			case name == "builtins" && within(inner, "builtins"): // it lists them
			case ours, within(imported, "github.com/google/cel-go", "github.com/open-policy-agent"):
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// TestEngineDoesNotKnowTests keeps test code out of the program.
func TestEngineDoesNotKnowTests(t *testing.T) {
	t.Parallel()
	for name, imports := range packages(t, "engine", "builtins", "cmd") {
		for _, imported := range imports {
			if inner, _ := own(imported); imported == "testing" || within(inner, "test", "hack") {
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// within reports whether an import is one of some folders or below one.
func within(imported string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return imported == f || strings.HasPrefix(imported, f+"/") })
}

// domain are words of the things that policies decide about. The engine knows
// objects, keys and fields; what these mean stands in policies/.
var domain = []string{
	"zone", "kernel", "firmware", "deployment", "statefulset", "daemonset", "nodename", "eligible", "drbd", "lvm", "kmm",
	"workload", "pod template", "thinpool", "thin pool", "storagepool", "storage.deckhouse", "diskful", "tiebreaker",
}

func domainWord(line string) string {
	line = strings.ToLower(innocent.Replace(line))
	if at := slices.IndexFunc(domain, func(word string) bool { return strings.Contains(line, word) }); at >= 0 {
		return domain[at]
	}
	return ""
}

// innocent are words that only contain one of these.
var innocent = strings.NewReplacer("timeZone", "", "TimeZone", "", "time zone", "", "ZoneBounds", "")

// kubernetes is the package that knows the kinds and fields of Kubernetes itself,
// to say which are open to all policies.
const kubernetes = "guard/"

func TestEngineDoesNotKnowTheDomain(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !isSource(entry) || strings.HasPrefix(file, kubernetes) {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if word := domainWord(line); word != "" {
				t.Errorf("engine/%s:%d: %q is a word of a policy's domain: %s", file, i+1, word, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOneMetadataClient: engine/cluster makes the client for metadata, which checks names
// before it puts them into a path; no other package makes one.
func TestOneMetadataClient(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../engine", "../cmd"} {
		err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" || file == "../engine/cluster/metadata.go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			if strings.Contains(string(text), "metadata.NewFor") {
				t.Errorf("%s makes a client for metadata: cluster.Metadata does", file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
