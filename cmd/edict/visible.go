package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
)

// visibleWriter shows the characters that a terminal would obey, such as those of a
// stranger's policy or object, as escapes.
type visibleWriter struct {
	to io.Writer

	mu sync.Mutex
	// part is the beginning of a character whose rest has not come yet.
	part []byte
}

func visible(w io.Writer) *visibleWriter { return &visibleWriter{to: w} }

// Write implements io.Writer.
func (v *visibleWriter) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	text := append(v.part, p...)
	v.part = nil
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			v.part = text
			break
		}
		r, size := utf8.DecodeRune(text)
		out = appendVisible(out, r, text[:size])
		text = text[size:]
	}
	if _, err := v.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// appendVisible appends a character, or the escape of one that is obeyed. raw are its
// bytes.
func appendVisible(out []byte, r rune, raw []byte) []byte {
	switch {
	case r == utf8.RuneError && len(raw) == 1, r < utf8.RuneSelf && document.Obeyed(r):
		return fmt.Appendf(out, `\x%02x`, raw[0])
	case document.Obeyed(r):
		return fmt.Appendf(out, `\u%04x`, r)
	default:
		return append(out, raw...)
	}
}

// direct returns the writer for what is meant for the terminal itself, such as the
// progress that overwrites its line.
func direct(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *notedWriter:
		return direct(w.to)
	case *visibleWriter:
		return w.to
	default:
		return w
	}
}

// showControls makes the text that a command prints visible. It is the one place that
// decides which output is text.
func showControls(cmd *cobra.Command) {
	if isCommand(cmd, "lsp", childName, "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd) {
		return // protocols and scripts
	}
	cmd.SetErr(visible(cmd.ErrOrStderr()))
	if out := cmd.OutOrStdout(); printsText(cmd, isTerminal(out)) {
		cmd.SetOut(visible(out))
	}
}

// printsText reports whether the standard output of a command is for people. What a
// program reads stays as it is: JSON, YAML and XML escape control characters, and other
// documents are for people only when a terminal shows them.
func printsText(cmd *cobra.Command, terminal bool) bool {
	output := ""
	if flag := cmd.Flags().Lookup("output"); flag != nil {
		output = flag.Value.String()
	}
	switch {
	case isCommand(cmd, "run"), slices.Contains([]string{"json", "yaml", "sarif", "junit"}, output):
		return false
	case isCommand(cmd, "allowances", "capture", "schema", "snapshot"), slices.Contains([]string{"dot", "mermaid", "github", outputLCOV}, output):
		return terminal
	default:
		return true
	}
}

// isCommand reports whether a command, or one that it belongs to, has one of these names.
func isCommand(cmd *cobra.Command, names ...string) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if slices.Contains(names, cmd.Name()) {
			return true
		}
	}
	return false
}
