// Command rbac writes for every file of shipped policies the permissions that
// its policies need, for the chart to grant:
//
//	go run ./hack/rbac [-check] [-policies charts/edict/files/policies] [-schemas policies/schemas]
//	  [-o charts/edict/files/rbac]
//
// With -check it writes nothing and fails when a file is not as it would be.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	policies := flag.String("policies", "charts/edict/files/policies", "the folder of policies")
	schemas := flag.String("schemas", "policies/schemas", "the folder of CRDs")
	output := flag.String("o", "charts/edict/files/rbac", "the folder to write to")
	check := flag.Bool("check", false, "write nothing, say what differs")
	flag.Parse()
	if err := run(*policies, *schemas, *output, *check); err != nil {
		fmt.Fprintln(os.Stderr, "rbac:", err)
		os.Exit(1)
	}
}

func run(policies, schemas, output string, check bool) error {
	want, err := files(policies, schemas)
	if err != nil {
		return err
	}
	if check {
		return compare(output, want)
	}
	return write(output, want)
}

// compare says which files of a folder are not as they should be.
func compare(folder string, want map[string]string) error {
	var wrong []error
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(have) != text {
			wrong = append(wrong, fmt.Errorf("%s is not up to date, make generate writes it", filepath.Join(folder, name)))
		}
	}
	for _, path := range leftover(folder, want) {
		wrong = append(wrong, fmt.Errorf("%s belongs to no policy, make generate removes it", path))
	}
	return errors.Join(wrong...)
}

// leftover are the files of policies that are gone.
func leftover(folder string, want map[string]string) (out []string) {
	found, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil // the pattern is well formed
	}
	for _, path := range found {
		if _, ok := want[filepath.Base(path)]; !ok {
			out = append(out, path)
		}
	}
	return out
}

func write(folder string, want map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range want {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, path := range leftover(folder, want) {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%s: %d files\n", folder, len(want))
	return nil
}
