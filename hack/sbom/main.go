// Command sbom lists the modules that are in the program: as a CycloneDX bill of
// materials, and as a file with their licences and notices, which go into the
// image. A licence that is not on the list is an error.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowed are the licences that the image may hold.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense", "0BSD"}

// module is one that is linked into the program.
type module struct {
	path, version, folder string
	licences              []string
	// texts are the files that have to go with it, by name.
	texts map[string]string
}

func main() {
	bom := flag.String("o", "bin/sbom.cdx.json", "where the bill of materials is written")
	notices := flag.String("notices", "bin/NOTICES", "where the licences are written")
	program := flag.String("program", "./cmd/edict", "the program")
	flag.Parse()
	if err := run(*program, *bom, *notices); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(program, bom, notices string) error {
	modules, err := linked(program)
	if err != nil {
		return err
	}
	classifier, err := assets.DefaultClassifier()
	if err != nil {
		return err
	}
	var wrong []error
	for _, m := range modules {
		wrong = append(wrong, m.read(classifier))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	return errors.Join(write(bom, func(w io.Writer) error { return encode(w, modules) }), write(notices, func(w io.Writer) error { return print(w, modules) }))
}

// linked asks the go command which modules the program is built of.
func linked(program string) (out []*module, err error) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", program)
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		if fields := strings.Split(line, "\t"); len(fields) == 3 {
			out = append(out, &module{path: fields[0], version: fields[1], folder: fields[2], texts: map[string]string{}})
		}
	}
	return out, nil
}

// read finds the licences of a module.
func (m *module) read(c *classifier.Classifier) error {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "PATENTS") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.folder, e.Name()))
		if err != nil {
			return err
		}
		m.texts[e.Name()] = string(text)
		for _, match := range c.Match(text).Matches {
			if match.MatchType == "License" && !slices.Contains(m.licences, match.Name) {
				m.licences = append(m.licences, match.Name)
			}
		}
	}
	slices.Sort(m.licences)
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s has no licence that is known", m.path, m.version)
	}
	for _, l := range m.licences {
		if !slices.Contains(allowed, l) {
			return fmt.Errorf("%s %s is under %s, which is not on the list", m.path, m.version, l)
		}
	}
	return nil
}

func write(path string, content func(io.Writer) error) error {
	var out bytes.Buffer
	if err := content(&out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// encode writes the bill of materials. It has neither a time nor a number of its
// own, so that the same commit gives the same bytes.
func encode(w io.Writer, modules []*module) error {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, Name: "edict"}}
	var components []cyclonedx.Component
	for _, m := range modules {
		purl := "pkg:golang/" + m.path + "@" + m.version
		var licences cyclonedx.Licenses
		for _, l := range m.licences {
			licences = append(licences, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: l}})
		}
		components = append(components, cyclonedx.Component{
			BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: m.path, Version: m.version, PackageURL: purl, Licenses: &licences,
		})
	}
	bom.Components = &components
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// print writes the licences of all modules.
func print(w io.Writer, modules []*module) error {
	fmt.Fprintf(w, "The program edict is built of these %d modules, under their licences.\n", len(modules))
	for _, m := range modules {
		fmt.Fprintf(w, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 80), m.path, m.version, strings.Join(m.licences, ", "))
		for _, name := range sorted(m.texts) {
			fmt.Fprintf(w, "\n--- %s\n%s\n", name, strings.TrimSpace(m.texts[name]))
		}
	}
	return nil
}

func sorted(texts map[string]string) (out []string) {
	for name := range texts {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
