// Command testreport prints the events of go test -json as go test prints them, with the
// output of tests that fail only, and adds a line for each package and each skipped test to a
// file:
//
//	go test -json ./... | go run ./hack/testreport -times bin/test-times.txt
//
// With -summary it reads that file and prints the ten slowest packages, the sum of all, and
// the skipped tests.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	times := flag.String("times", "bin/test-times.txt", "the file with a line for each package and each skipped test")
	summary := flag.Bool("summary", false, "print a summary of the file")
	flag.Parse()
	var err error
	if *summary {
		err = summarize(os.Stdout, *times)
	} else {
		err = report(os.Stdin, os.Stdout, *times)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

// event is one of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// test names a test, or with an empty name its package.
type test struct{ pkg, name string }

// results are those of a run of tests so far.
type results struct {
	w      io.Writer
	output map[test][]string
	lines  []string
	failed bool
}

// report prints the events that it reads, and appends to the file. Its error reports failed
// tests as well.
func report(in io.Reader, w io.Writer, times string) error {
	r := results{w: w, output: map[test][]string{}}
	s := bufio.NewScanner(in)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			fmt.Fprintln(w, s.Text()) // of the compiler
			continue
		}
		r.take(&e)
	}
	if err := s.Err(); err != nil {
		return err
	}
	f, err := os.OpenFile(times, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, line := range r.lines {
		fmt.Fprintln(f, line)
	}
	if r.failed {
		return errors.New("some tests failed")
	}
	return nil
}

// take takes an event.
func (r *results) take(e *event) {
	at := test{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		r.output[at] = append(r.output[at], e.Output)
	case "fail", "build-fail":
		r.failed = true
		fmt.Fprint(r.w, strings.Join(r.output[at], ""))
		if e.Test == "" && e.Action == "fail" {
			r.lines = append(r.lines, fmt.Sprintf("package %s %.1f", e.Package, e.Elapsed))
		}
		delete(r.output, at)
	case "skip":
		if e.Test != "" {
			r.lines = append(r.lines, "skipped "+e.Package+" "+e.Test)
		}
		delete(r.output, at)
	case "pass":
		if e.Test == "" {
			r.passed(e)
		}
		delete(r.output, at)
	}
}

// passed prints that a package passed, as go test does.
func (r *results) passed(e *event) {
	for _, line := range r.output[test{e.Package, ""}] {
		if strings.HasPrefix(line, "ok ") {
			fmt.Fprint(r.w, line)
		}
	}
	r.lines = append(r.lines, fmt.Sprintf("package %s %.1f", e.Package, e.Elapsed))
}

// timing is how long the tests of a package took.
type timing struct {
	pkg     string
	seconds float64
}

// summarize prints what the file has. A package may have several runs.
func summarize(w io.Writer, times string) error {
	text, err := os.ReadFile(times)
	if err != nil {
		return err
	}
	sum, all, skipped := 0.0, map[string]float64{}, 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 3 && fields[0] == "package":
			seconds, err := strconv.ParseFloat(fields[2], 64)
			if err != nil {
				return err
			}
			all[fields[1]] += seconds
			sum += seconds
		case len(fields) == 3 && fields[0] == "skipped":
			skipped++
			fmt.Fprintf(w, "skipped: %s %s\n", fields[1], fields[2])
		}
	}
	var timings []timing
	for pkg, seconds := range all {
		timings = append(timings, timing{pkg, seconds})
	}
	slices.SortFunc(timings, func(a, b timing) int { return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.pkg, b.pkg)) })
	fmt.Fprintf(w, "the slowest of %d packages, which took %.0f s together; %d tests were skipped:\n", len(timings), sum, skipped)
	for _, one := range timings[:min(10, len(timings))] {
		fmt.Fprintf(w, "%8.1f s  %s\n", one.seconds, one.pkg)
	}
	return nil
}
