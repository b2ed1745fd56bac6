package policytest

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/edict-dev/edict/engine/document"
)

// yamlDiff shows how two values differ, in the YAML that an author would write:
// lines that only one has begin with - or +.
func yamlDiff(want, got any) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: yamlLines(want), B: yamlLines(got), Context: 3})
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "@@"):
			if out.Len() > 0 {
				out.WriteString("  ...\n")
			}
		default:
			out.WriteString(line[:1] + " " + line[1:])
		}
	}
	return out.String()
}

func yamlLines(v any) []string {
	text, err := document.YAML(normal(v))
	if err != nil {
		return []string{err.Error() + "\n"}
	}
	return difflib.SplitLines(strings.TrimSuffix(string(text), "\n"))
}
