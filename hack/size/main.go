// Command size measures the code, and fails if something is larger than hack/size/limits.txt
// allows:
//
//	go run ./hack/size [-check] [-binary bin/image/edict]
//
// It prints one "name: number" a line. The product code is all packages of the main module
// except those below test, hack, docs and examples.
//
//   - code-lines: lines of the product code without blank, comment, test and generated lines
//   - body-lines: the same without package clauses and import declarations
//   - test-lines: code-lines of all test files
//   - files, packages: of the product code
//   - split-types: types with methods in more than one file
//   - looped-files: files in a reference loop inside their package; references are package-level
//     names, found lexically, and methods do not count
//   - mutexes: fields and variables of type sync.Mutex or sync.RWMutex
//   - function-p90: the ninth decile of the lines of functions
//   - docs-words: words of the Markdown below docs without reference.md and checks
//   - unclean: packages and pages that vale does not pass, see hack/vale
//   - binary-bytes: the size of the program for linux/amd64, if it was built
//   - packages-in-binary: packages that are compiled into it, with the standard library's
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// names are the names of the sizes in the order of the output.
var names = []string{
	"code-lines", "body-lines", "test-lines", "files", "packages", "split-types", "looped-files", "mutexes", "function-p90",
	"docs-words", "unclean", "binary-bytes", "packages-in-binary",
}

func main() {
	check := flag.Bool("check", false, "fail if something is larger than the limits allow, and print only that")
	binary := flag.String("binary", "bin/image/edict", "the program, for binary-bytes")
	limits := flag.String("limits", "hack/size/limits.txt", "the largest numbers")
	flag.Parse()
	if err := run(os.Stdout, *check, *binary, *limits); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, check bool, binary, limits string) error {
	sizes, err := measure(".", binary, !check)
	if err != nil {
		return err
	}
	if !check {
		for _, name := range names {
			if n, ok := sizes[name]; ok {
				fmt.Fprintf(w, "%s: %d\n", name, n)
			}
		}
		return nil
	}
	text, err := os.ReadFile(limits)
	if err != nil {
		return err
	}
	return exceeded(sizes, text)
}

// measure returns the sizes of a repository by name. With inBinary it includes the packages
// of the program, which takes a run of go list.
func measure(root, binary string, inBinary bool) (map[string]int, error) {
	code, err := readCode(root)
	if err != nil {
		return nil, err
	}
	sizes := code.sizes()
	if sizes["docs-words"], err = docsWords(root); err != nil {
		return nil, err
	}
	if sizes["unclean"], err = lines(root + "/hack/vale/unclean.txt"); err != nil {
		return nil, err
	}
	if info, err := os.Stat(binary); err == nil {
		sizes["binary-bytes"] = int(info.Size())
	}
	if inBinary {
		out, err := exec.Command("go", "list", "-deps", "./cmd/edict").Output()
		if err != nil {
			return nil, fmt.Errorf("listing the packages of the program: %w", err)
		}
		sizes["packages-in-binary"] = bytes.Count(out, []byte("\n"))
	}
	return sizes, nil
}

// exceeded returns an error that names each size above its limit. Binaries differ a little
// between versions of the compiler, so theirs may be exceeded by 1 %.
func exceeded(sizes map[string]int, limits []byte) error {
	var wrong []error
	for line := range strings.Lines(string(limits)) {
		name, number, ok := strings.Cut(strings.TrimSpace(line), ": ")
		most, err := strconv.Atoi(number)
		if !ok || err != nil {
			wrong = append(wrong, fmt.Errorf("limits.txt: %q is no \"name: number\"", strings.TrimSpace(line)))
			continue
		}
		if name == "binary-bytes" {
			most += most / 100
		}
		if now, known := sizes[name]; known && now > most {
			wrong = append(wrong, fmt.Errorf("%s is %d, and may be %d; make it smaller, or change hack/size/limits.txt and say why in the commit", name, now, most))
		}
	}
	return errors.Join(wrong...)
}

// lines returns how many lines of a file are not blank.
func lines(path string) (n int, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if strings.TrimSpace(s.Text()) != "" {
			n++
		}
	}
	return n, nil
}
