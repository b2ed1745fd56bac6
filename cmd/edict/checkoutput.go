package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// checkOutputs write findings, by the name of the output.
var checkOutputs = map[string]func(w io.Writer, b *source.Bundle, list []document.Problem) error{
	"text": checkText, "json": checkJSON, "sarif": checkSARIF, "github": checkGitHub,
}

// maxProblems is how many findings of a file are printed for a person.
const maxProblems = 100

func checkText(w io.Writer, b *source.Bundle, list []document.Problem) error {
	shown := map[string]int{}
	for _, p := range list {
		if shown[p.File]++; shown[p.File] <= maxProblems {
			printProblem(w, p)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(shown)) {
		if more := shown[file] - maxProblems; more > 0 {
			fmt.Fprintf(w, "%s: %d more are not shown; -o json has them\n", file, more)
		}
	}
	_, err := fmt.Fprintln(w, summary(b, list))
	return err
}

// checkProblem is a finding as programs read it.
type checkProblem struct {
	document.Problem
	Code document.Code `json:"code"`
	Page string        `json:"page"`
}

func checkJSON(w io.Writer, b *source.Bundle, list []document.Problem) error {
	problems := make([]checkProblem, len(list)) // never null
	for i, p := range list {
		problems[i] = checkProblem{Problem: p, Code: check.CodeOf(p), Page: check.Page(check.CodeOf(p))}
	}
	return writeJSON(w, map[string]any{
		"problems": problems, "policies": len(b.Policies), "files": b.Files, "skipped": b.Skipped,
		"errors": severities(list)[document.Error], "warnings": severities(list)[document.Warning], "notes": severities(list)[document.Note],
	})
}

// gitHubLevels are the workflow commands of the severities.
var gitHubLevels = map[document.Severity]string{document.Error: "error", document.Warning: "warning", document.Note: "notice"}

// checkGitHub, like SARIF, names places in files of the repository: a finding in a
// ConfigMap is at its place in the manifest.
func checkGitHub(w io.Writer, b *source.Bundle, list []document.Problem) error {
	for _, p := range list {
		at := b.Place(p.Position)
		_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", gitHubLevels[p.Severity], strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeGitHub(at.File)), at.Line, at.Column, check.CodeOf(p), escapeGitHub(full(p)))
		if err != nil {
			return err
		}
	}
	return nil
}

func full(p document.Problem) string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + " (" + p.Hint + ")"
}

func escapeGitHub(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// printProblem writes a problem for a person.
func printProblem(w io.Writer, p document.Problem) { fmt.Fprintln(w, p.Pretty()) }

func severities(list []document.Problem) map[document.Severity]int {
	out := map[document.Severity]int{}
	for _, p := range list {
		out[p.Severity]++
	}
	return out
}

func summary(b *source.Bundle, list []document.Problem) string {
	n := severities(list)
	out := fmt.Sprintf("%s in %s: %s, %s", count(len(b.Units), "policy", "policies"), count(b.Files, "file", "files"),
		count(n[document.Error], "error", "errors"), count(n[document.Warning], "warning", "warnings"))
	if n[document.Note] > 0 {
		out += ", " + count(n[document.Note], "note", "notes")
	}
	if b.Skipped > 0 {
		out += "; " + count(b.Skipped, "other document", "other documents") + " skipped"
	}
	return out
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
