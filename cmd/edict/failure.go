package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxSaid is how much of the text on standard error goes into the document of a failure.
const maxSaid = 64 << 10

// notedWriter notes whether something is written to an output, and its beginning.
type notedWriter struct {
	to    io.Writer
	wrote bool
	said  strings.Builder
	// most bounds what is noted, in bytes.
	most int
}

// Write implements io.Writer.
func (n *notedWriter) Write(p []byte) (int, error) {
	n.wrote = n.wrote || len(p) > 0
	n.said.Write(p[:min(len(p), n.most-n.said.Len())])
	return n.to.Write(p)
}

// noteOutput notes what a command prints that is to print JSON, for failed.
func noteOutput(cmd *cobra.Command) {
	if !printsJSON(cmd) {
		return
	}
	out, errOut := &notedWriter{to: cmd.OutOrStdout()}, &notedWriter{to: cmd.ErrOrStderr(), most: maxSaid}
	for _, c := range []*cobra.Command{cmd, cmd.Root()} { // after a panic only the root is known
		c.SetOut(out)
		c.SetErr(errOut)
	}
}

func printsJSON(cmd *cobra.Command) bool {
	flag := cmd.Flags().Lookup("output")
	return flag != nil && flag.Value.String() == "json"
}

// asksForJSON reports whether the arguments have -o json. Of a flag that nobody knows, or a
// command, the others are not parsed; and after a panic it is not known which command it was.
func asksForJSON(args []string) bool {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	output := flags.StringP("output", "o", "", "")
	return flags.Parse(args) == nil && *output == "json"
}

// failed prints the document of a failure, unless the command has printed its own: what
// reads JSON gets one document in any case.
func failed(cmd *cobra.Command, args []string, err error) {
	if !printsJSON(cmd) && !asksForJSON(args) {
		return
	}
	text := err.Error()
	out := cmd.OutOrStdout()
	if noted, ok := out.(*notedWriter); ok {
		if noted.wrote {
			return
		}
		out = noted.to
	}
	if noted, ok := cmd.ErrOrStderr().(*notedWriter); ok && text == "" {
		text = noted.said.String()
	}
	_ = writeJSON(out, map[string]string{"error": strings.TrimSpace(text)}) // the exit code says it, too
}
