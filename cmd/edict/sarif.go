package main

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// checkSARIF writes the part of SARIF 2.1.0 that code scanning reads. Columns count characters.
func checkSARIF(w io.Writer, b *source.Bundle, list []document.Problem) error {
	codes := make([]document.Code, 0, len(list))
	for _, p := range list {
		codes = append(codes, check.CodeOf(p))
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	rules, results := []any{}, []any{}
	for _, c := range codes {
		rules = append(rules, map[string]any{"id": c, "helpUri": check.Page(c), "defaultConfiguration": map[string]any{"level": document.Severities[c]}})
	}
	for _, p := range list {
		results = append(results, map[string]any{
			"ruleId": check.CodeOf(p), "ruleIndex": slices.Index(codes, check.CodeOf(p)), "level": p.Severity,
			"message": map[string]any{"text": full(p)}, "locations": places(b.Place(p.Position)),
		})
	}
	driver := map[string]any{"name": "edict", "informationUri": "https://github.com/edict-dev/edict", "rules": rules}
	run := map[string]any{"tool": map[string]any{"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
	return writeJSON(w, map[string]any{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []any{run}})
}

// places returns where a finding is; none for one that is about no file.
func places(at document.Position) []any {
	if at.File == "" {
		return []any{}
	}
	physical := map[string]any{"artifactLocation": map[string]any{"uri": fileURI(at.File)}}
	if at.Line > 0 {
		region := map[string]int{"startLine": at.Line}
		if at.Column > 0 {
			region["startColumn"] = at.Column
		}
		physical["region"] = region
	}
	return []any{map[string]any{"physicalLocation": physical}}
}

// fileURI returns a file as a URI; a relative path is one below the root of the
// repository.
func fileURI(file string) string {
	path := filepath.ToSlash(file)
	if !filepath.IsAbs(file) {
		return (&url.URL{Path: path}).String()
	}
	if !strings.HasPrefix(path, "/") { // of Windows: C:/policies
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
