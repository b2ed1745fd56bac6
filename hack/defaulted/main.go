// Command defaulted lists the optional fields of Kubernetes' own kinds that the API
// server sets by itself, as their documentation in k8s.io/api says: the published
// schemas do not tell.
//
//	go run ./hack/defaulted [-o engine/schema/defaulted.txt]
//
// A line is the name of a definition and a field of it.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packages are those of the kinds with a schema.
var packages = []string{"apps/v1", "autoscaling/v2", "batch/v1", "coordination/v1", "core/v1", "discovery/v1", "networking/v1", "policy/v1", "rbac/v1", "storage/v1"}

// known are fields that the API server sets although their documentation does not
// say so.
var known = []string{
	"io.k8s.api.core.v1.Container image", "io.k8s.api.core.v1.HTTPGetAction path", "io.k8s.api.core.v1.NamespaceSpec finalizers", "io.k8s.api.core.v1.NamespaceStatus phase", "io.k8s.api.core.v1.PodSpec schedulerName",
	"io.k8s.api.core.v1.PodStatus phase", "io.k8s.api.core.v1.ProjectedVolumeSource defaultMode", "io.k8s.api.core.v1.PodStatus qosClass", "io.k8s.api.core.v1.ServiceSpec type",
}

var (
	mapping = regexp.MustCompile(`^var map_(\w+) = `)
	field   = regexp.MustCompile(`^\s+"(\w+)":\s+"(.*)",$`)
	says    = regexp.MustCompile(`(?i)\bdefaults? (to|is|value|policy)\b|\bdefault: |\bthe default\b|defaulted to|default \w+ is`)
)

func main() {
	output := flag.String("o", "engine/schema/defaulted.txt", "file to write")
	flag.Parse()
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "defaulted:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		return err
	}
	lines := slices.Clone(known)
	for _, name := range packages {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), name, "types_swagger_doc_generated.go"))
		if err != nil {
			return err
		}
		lines = append(lines, fields("io.k8s.api."+strings.ReplaceAll(name, "/", "."), string(text))...)
	}
	slices.Sort(lines)
	return os.WriteFile(output, []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644)
}

func fields(prefix, text string) (out []string) {
	kind := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := mapping.FindStringSubmatch(line); m != nil {
			kind = m[1]
		}
		if m := field.FindStringSubmatch(line); m != nil && says.MatchString(m[2]) {
			out = append(out, prefix+"."+kind+" "+m[1])
		}
	}
	return out
}
