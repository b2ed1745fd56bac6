package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/graph"
)

// graphFlags say of which policies the graph is.
type graphFlags struct {
	policyFiles

	output string
}

func graphCommand() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "graph PATH...",
		Short: "Show what policies read and write, and which rule wakes which policy",
		Long: `Shows for each kind which policies decide about its objects, read and write them,
with the fields; which rule wakes which policy by what it writes; and loops: circles
of rules of several policies, each of which writes what the next decides by.`,
		Example: "  edict graph policies\n  edict graph policies -o mermaid",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &f.output, "text", "json", "dot", "mermaid")
	f.register(cmd)
	return f.takePaths(cmd, 1)
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

func (f *graphFlags) run(w io.Writer) error {
	bundle, err := f.loadAll()
	if err != nil {
		return err
	}
	return graphOutputs[f.output](w, graph.Of(bundle.Policies))
}
