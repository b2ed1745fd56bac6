package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/coverage"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/policytest"
)

func testCommand() *cobra.Command {
	var pattern, output string
	var schemas, policies []string
	var cover, watch, update bool
	var mutation mutate
	var brakes brakeFlags
	var params paramValues
	cmd := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run policy tests",
		Long: `Runs the PolicyTest documents at each PATH, every case in a world of its own, and
the tests in the manifests of ConfigMaps with policies.`,
		Example: "  edict test policy-tests --run grace",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := params.overrides()
			if err != nil {
				return err
			}
			if mutation.on {
				return mutation.run(cmd.Context(), cmd, args, mutation.options(schemas, values), output)
			}
			options := policytest.Options{Policies: policies, Schemas: schemas, Params: values, Limits: &brakes.Settings}
			if pattern != "" {
				re, err := regexp.Compile(pattern)
				if err != nil {
					return fmt.Errorf("--run: %w", err)
				}
				options.Run = re
			}
			if cover || output == outputLCOV {
				options.Coverage = coverage.New()
			}
			once := func() error {
				report, err := policytest.Run(cmd.Context(), args, options)
				if err == nil && update {
					report, err = updated(cmd, report, args, options)
				}
				if err != nil {
					return found("%v", err)
				}
				for _, p := range report.Warnings {
					printProblem(cmd.ErrOrStderr(), p)
				}
				if len(report.Cases) == 0 {
					return noCase(pattern, args)
				}
				return finishTest(cmd.OutOrStdout(), &tested{Report: report, coverage: options.Coverage}, testPrinters[output])
			}
			if watch {
				return watched(cmd.Context(), cmd.ErrOrStderr(), slices.Concat(args, policies), &options, once)
			}
			return once()
		},
	}
	cmd.Flags().StringArrayVarP(&policies, "filename", "f", nil, "a file or folder of policies, tested instead of those that the tests name; may repeat")
	cmd.Flags().StringVar(&pattern, "run", "", "run only cases whose FILE/NAME matches this pattern")
	outputFlag(cmd, &output, "text", "json", "junit", outputLCOV)
	cmd.Flags().BoolVar(&cover, "coverage", false, "also list how often each rule fired, and which rows, conditions and steps no case used")
	cmd.Flags().BoolVar(&watch, "watch", false, "run the tests again whenever a file of theirs or of their policies changes, until interrupted")
	cmd.Flags().BoolVar(&update, "update", false, "write what came out in the place of effects, calls, objects, errors and requeues that were expected and differ")
	cmd.MarkFlagsMutuallyExclusive("update", "watch")
	mutation.flags(cmd)
	brakes.register(cmd.Flags())
	params.register(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("update", "mutate")
	cmd.MarkFlagsMutuallyExclusive("filename", "mutate")
	cmd.Flags().StringArrayVar(&schemas, "schemas", nil, "a folder of CRDs; may repeat")
	return cmd
}

// updated writes what came out into the tests, and runs them again.
func updated(cmd *cobra.Command, report *policytest.Report, args []string, o policytest.Options) (*policytest.Report, error) {
	replaced, err := report.Update()
	if replaced > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s changed: look at the difference before you commit it\n", count(replaced, "expectation", "expectations"))
	}
	if err != nil || replaced == 0 {
		return report, err
	}
	return policytest.Run(cmd.Context(), args, o)
}

// tested is what came of tests. coverage is nil when it was not asked for.
type tested struct {
	*policytest.Report
	coverage *coverage.Collector
}

// points returns what the tests used of the policies; nil when it was not asked for.
func (t *tested) points() []coverage.Point {
	if t.coverage == nil {
		return nil
	}
	return t.coverage.Points()
}

const outputLCOV = "lcov"

// noCase says why no case has run.
func noCase(pattern string, paths []string) error {
	where := document.OneLine(strings.Join(paths, ", "))
	if pattern == "" {
		return found("no policy test in %s: a case stands in a document of kind PolicyTest, or in a rule test_... of a file _test.rego", where)
	}
	return found("no case matches --run %q in %s: it is a pattern for FILE/NAME, where NAME is that of the case", pattern, where)
}

func finishTest(w io.Writer, r *tested, print func(io.Writer, *tested) error) error {
	if err := print(w, r); err != nil {
		return err
	}
	if r.Failed() > 0 {
		return findings{}
	}
	return nil
}

var testPrinters = map[string]func(io.Writer, *tested) error{
	"text": printText, "json": printJSON, "junit": printJUnit,
	outputLCOV: func(w io.Writer, r *tested) error { return printLCOV(w, r.points()) },
}

func printText(w io.Writer, r *tested) error {
	files := map[string][2]int{}
	for _, c := range r.Cases {
		n := files[c.File]
		n[0]++
		if len(c.Failures) > 0 {
			n[1]++
			fmt.Fprintf(w, "FAIL %s\n     %s\n", document.OneLine(c.Name), document.OneLine(c.Position))
			for _, f := range c.Failures {
				fmt.Fprintf(w, "     %s\n", strings.ReplaceAll(strings.TrimRight(f, "\n"), "\n", "\n     "))
			}
		}
		files[c.File] = n
		for _, p := range c.Paused {
			fmt.Fprintf(w, "note %s\n     %s\n     %s\n", document.OneLine(c.Name), document.OneLine(c.Position), p)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		n := files[file]
		word := "ok  "
		if n[1] > 0 {
			word = "FAIL"
		}
		fmt.Fprintf(w, "%s %s: %s\n", word, document.OneLine(file), count(n[0], "case", "cases"))
	}
	_, err := fmt.Fprintf(w, "%d passed, %d failed\n", len(r.Cases)-r.Failed(), r.Failed())
	if r.coverage != nil {
		printCoverage(w, r)
		printPoints(w, r.points())
	}
	return err
}

func printJSON(w io.Writer, r *tested) error {
	out := map[string]any{"cases": r.Cases, "passed": len(r.Cases) - r.Failed(), "failed": r.Failed(), "coverage": r.Coverage}
	if points := r.points(); points != nil {
		out["coveragePoints"] = points
	}
	return writeJSON(w, out)
}

// The parts of a JUnit report that its readers agree on.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	File    string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func printJUnit(w io.Writer, r *tested) error {
	suite := junitSuite{Name: "edict", Tests: len(r.Cases), Failures: r.Failed()}
	total := time.Duration(0)
	for _, c := range r.Cases {
		total += c.Time
		out := junitCase{File: c.File, Name: c.Name, Time: seconds(c.Time)}
		if len(c.Failures) > 0 {
			out.Failure = &junitFailure{Message: c.Position, Text: strings.Join(c.Failures, "\n")}
		}
		suite.Cases = append(suite.Cases, out)
	}
	suite.Time = seconds(total)
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func printCoverage(w io.Writer, r *tested) {
	for _, policy := range slices.Sorted(maps.Keys(r.Coverage)) {
		rules := r.Coverage[policy]
		names := slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
			return cmp.Or(cmp.Compare(rules[a], rules[b]), cmp.Compare(a, b))
		})
		covered := 0
		for _, rule := range names {
			if rules[rule] > 0 {
				covered++
			}
		}
		fmt.Fprintf(w, "coverage of %s: %d of %s fired\n", policy, covered, count(len(names), "rule", "rules"))
		for _, rule := range names {
			fmt.Fprintf(w, "  %6d  %s\n", rules[rule], rule)
		}
	}
}
