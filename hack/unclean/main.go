// Command unclean runs Vale with the rules in hack/vale on the Go comments and the Markdown of
// the repository, and compares the packages and pages with findings with
// hack/vale/unclean.txt, which only shrinks:
//
//	go run ./hack/unclean [-vale bin/vale] [-write]
//
// It fails if a package or page has findings and is not listed, or is listed and has none.
// With -write it removes the latter from the list.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

const list = "hack/vale/unclean.txt"

func main() {
	vale := flag.String("vale", "bin/vale", "the program vale")
	write := flag.Bool("write", false, "remove from the list what has no findings")
	flag.Parse()
	if err := run(*vale, *write); err != nil {
		fmt.Fprintln(os.Stderr, "unclean:", err)
		os.Exit(1)
	}
}

func run(vale string, write bool) error {
	files, err := files()
	if err != nil {
		return err
	}
	found, err := findings(vale, files)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	listed := strings.Fields(string(text))
	if write {
		kept := slices.DeleteFunc(slices.Clone(listed), func(place string) bool { return found[place] == nil })
		return os.WriteFile(list, []byte(strings.Join(kept, "\n")+"\n"), 0o600)
	}
	return compare(found, listed)
}

// files returns the Go files and pages of the repository, without those of tests' data.
func files() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go", "*.md").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(file string) bool {
		_, err := os.Stat(file) // one may be deleted and not committed yet
		return err != nil || strings.Contains(file, "testdata/")
	}), nil
}

// finding is one of Vale's, as its JSON has it.
type finding struct {
	Line           int
	Check, Message string
}

// findings returns the first finding of each package or page that has any.
func findings(vale string, files []string) (map[string]error, error) {
	cmd := exec.Command(vale, append([]string{"--config", "hack/vale/vale.ini", "--no-exit", "--output=JSON"}, files...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running vale: %w", err)
	}
	var all map[string][]finding
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("reading the output of vale: %w", err)
	}
	found := map[string]error{}
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if place := placeOf(file); len(all[file]) > 0 && found[place] == nil {
			first := all[file][0]
			found[place] = fmt.Errorf("%s:%d: %s (%s)", file, first.Line, first.Message, first.Check)
		}
	}
	return found, nil
}

// placeOf returns the package of a Go file, or the page itself.
func placeOf(file string) string {
	if strings.HasSuffix(file, ".go") {
		return path.Dir(file)
	}
	return file
}

// compare returns an error for each place that should be listed or should not be.
func compare(found map[string]error, listed []string) error {
	var wrong []error
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(listed, place) {
			wrong = append(wrong, found[place])
		}
	}
	for _, place := range listed {
		if found[place] == nil {
			wrong = append(wrong, fmt.Errorf("%s has no findings any more: remove it from %s (go run ./hack/unclean -write)", place, list))
		}
	}
	return errors.Join(wrong...)
}
