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

// The part of SARIF 2.1.0 that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
		// ColumnKind says that columns count characters.
		ColumnKind string `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string             `json:"id"`
		HelpURI string             `json:"helpUri"`
		Default sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level document.Severity `json:"level"`
	}
	sarifResult struct {
		RuleID    string            `json:"ruleId"`
		RuleIndex int               `json:"ruleIndex"`
		Level     document.Severity `json:"level"`
		Message   sarifMessage      `json:"message"`
		Locations []sarifLocation   `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

func checkSARIF(w io.Writer, b *source.Bundle, list []document.Problem) error {
	codes := make([]document.Code, 0, len(list))
	for _, p := range list {
		codes = append(codes, check.CodeOf(p))
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	run := sarifRun{
		Tool:    sarifTool{Driver: sarifDriver{Name: "edict", InformationURI: "https://github.com/edict-dev/edict", Rules: []sarifRule{}}},
		Results: []sarifResult{}, ColumnKind: "unicodeCodePoints",
	}
	for _, c := range codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: string(c), HelpURI: check.Page(c), Default: sarifConfiguration{Level: document.Severities[c]}})
	}
	for _, p := range list {
		run.Results = append(run.Results, sarifResult{
			RuleID: string(check.CodeOf(p)), RuleIndex: slices.Index(codes, check.CodeOf(p)), Level: p.Severity,
			Message: sarifMessage{Text: full(p)}, Locations: places(b.Place(p.Position)),
		})
	}
	return writeJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// places returns where a finding is; none for one that is about no file.
func places(at document.Position) []sarifLocation {
	if at.File == "" {
		return []sarifLocation{}
	}
	out := sarifPhysical{Artifact: sarifArtifact{URI: fileURI(at.File)}}
	if at.Line > 0 {
		out.Region = &sarifRegion{Line: at.Line, Column: at.Column}
	}
	return []sarifLocation{{Physical: out}}
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
