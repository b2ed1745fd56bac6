package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

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

// writeJSON writes a value as one document, for programs and for people.
func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

func writeYAML(w io.Writer, v any) error {
	text, err := document.YAML(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// outputs returns the functions that print a value, by the name of the output format.
func outputs[T any](table func(io.Writer, T) error) map[string]func(io.Writer, T) error {
	return map[string]func(io.Writer, T) error{
		"table": table,
		"json":  func(w io.Writer, v T) error { return writeJSON(w, v) },
		"yaml":  func(w io.Writer, v T) error { return writeYAML(w, v) },
	}
}

// withOutputs makes a function of the context and the outputs what a command runs.
func withOutputs(run func(ctx context.Context, out, errOut io.Writer) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
}
