// Command chartfiles copies into the chart what it ships: the policies, and the CRD.
//
//	go run ./hack/chartfiles [-check]
//
// A file with several policies becomes one file for each, named after it: the chart makes a
// PolicySet of each file, and policies of one set share an account. A policy that is
// Disabled loses its mode: whether it runs is a value of the chart, and of two modes the
// narrower one holds. With -check it writes nothing and fails when a copy is not up to date.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "write nothing, say what differs")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "chartfiles:", err)
		os.Exit(1)
	}
}

// run brings the copies in a checkout up to date. With check it changes nothing and returns an error
// about those that are not.
func run(root string, check bool) error {
	policies, err := policies(filepath.Join(root, "policies"))
	if err != nil {
		return err
	}
	crds, err := read(filepath.Join(root, "api", "crds"))
	if err != nil {
		return err
	}
	maps.DeleteFunc(crds, func(name string, _ []byte) bool { return filepath.Ext(name) != ".yaml" })
	chart := filepath.Join(root, "charts", "edict")
	return errors.Join(
		bring(filepath.Join(chart, "files", "policies"), policies, check),
		bring(filepath.Join(chart, "crds"), crds, check))
}

var (
	modeline = regexp.MustCompile(`^# yaml-language-server: .*\n`)
	named    = regexp.MustCompile(`(?m)^  name: (\S+)$`)
	disabled = regexp.MustCompile(`(?m)^  mode: Disabled\n`)
)

// policies returns the files of the chart by name.
func policies(folder string) (map[string][]byte, error) {
	files, err := read(folder)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for name, text := range files {
		documents := strings.Split(disabled.ReplaceAllString(string(text), ""), "\n---\n")
		switch {
		case strings.HasSuffix(name, "_test.rego"):
		case len(documents) == 1:
			out[name] = []byte(documents[0])
		default:
			line := modeline.FindString(documents[0])
			for _, document := range documents {
				of := named.FindStringSubmatch(document)
				if of == nil {
					return nil, fmt.Errorf("%s: a document has no line \"  name: NAME\"", filepath.Join(folder, name))
				}
				out[of[1]+".yaml"] = []byte(line + strings.TrimSpace(strings.TrimPrefix(document, line)) + "\n")
			}
		}
	}
	return out, nil
}

// read returns the files of a folder by name.
func read(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() { // policies/schemas is a link
			continue
		}
		if out[entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name())); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bring makes a folder have exactly some files, or says what differs.
func bring(folder string, want map[string][]byte, check bool) error {
	if check {
		have, err := read(folder)
		for name := range have {
			if want[name] == nil {
				err = errors.Join(err, fmt.Errorf("%s has no source, make generate removes it", filepath.Join(folder, name)))
			}
		}
		for name, text := range want {
			if !bytes.Equal(have[name], text) {
				err = errors.Join(err, fmt.Errorf("%s is not up to date, make generate writes it", filepath.Join(folder, name)))
			}
		}
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range want {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
