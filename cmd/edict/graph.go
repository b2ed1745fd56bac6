package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/source"
)

// graphFlags say of which policies the graph is.
type graphFlags struct {
	paramValues

	policies, schemas []string
	output            string
}

func graphCommand() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "graph [PATH...]",
		Short: "Show what policies read and write, and which rule wakes which policy",
		Long: `Shows for each kind which policies decide about its objects, read and write them,
with the fields; which rule wakes which policy by what it writes; and loops: circles
of rules of several policies, each of which writes what the next decides by.`,
		Example: "  edict graph policies\n  edict graph --policies policies -o mermaid",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.OutOrStdout(), append(f.policies, args...))
		},
	}
	cmd.Flags().StringArrayVar(&f.policies, "policies", nil, "a file or folder of policies; may repeat")
	cmd.Flags().StringArrayVar(&f.schemas, "schemas", nil, "a folder of CRDs; may repeat")
	f.register(cmd.Flags())
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text, json, dot or mermaid")
	return cmd
}

// graphOutputs write a graph, by the name of the output.
var graphOutputs = map[string]func(w io.Writer, g *graph.Graph) error{
	"text":    func(w io.Writer, g *graph.Graph) error { return writeAll(w, g.Text()) },
	"dot":     func(w io.Writer, g *graph.Graph) error { return writeAll(w, g.Dot()) },
	"mermaid": func(w io.Writer, g *graph.Graph) error { return writeAll(w, g.Mermaid()) },
	"json":    func(w io.Writer, g *graph.Graph) error { return writeJSON(w, g) },
}

func writeAll(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

func (f *graphFlags) run(w io.Writer, paths []string) error {
	write, ok := graphOutputs[f.output]
	if !ok {
		return fmt.Errorf("unknown output %q: text, json, dot or mermaid", f.output)
	}
	if len(paths) == 0 {
		return errors.New("no policies: name a file or folder, or give --policies")
	}
	params, err := f.overrides()
	if err != nil {
		return err
	}
	bundle, err := source.Load(paths, source.Options{Schemas: f.schemas, Params: params})
	if err == nil {
		err = bundle.Err()
	}
	if err != nil {
		return found("%v", err)
	}
	return write(w, graph.Of(bundle.Policies))
}
