package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/edict-dev/edict/engine/document"
)

// table writes rows in columns, without white space at the ends of lines.
func table(w io.Writer, rows [][]string) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		if _, err := io.WriteString(t, document.OneLine(strings.Join(row, "\t"))+"\n"); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// printers are the outputs of a command that shows a list.
func printers[T any](table func(io.Writer, []T) error) map[string]func(io.Writer, []T) error {
	return map[string]func(io.Writer, []T) error{
		"table": table,
		"json":  func(w io.Writer, list []T) error { return writeJSON(w, list) },
		"yaml":  func(w io.Writer, list []T) error { return writeYAML(w, list) },
	}
}

// writeJSON writes a value as one document, for programs and for people.
func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// writeYAML writes a value as a document of YAML.
func writeYAML(w io.Writer, v any) error {
	text, err := document.YAML(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
