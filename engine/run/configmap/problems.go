package configmap

import (
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// MaxText is the size of a text in an annotation, in bytes.
const MaxText = 1024

// ProblemText returns problems of a severity for the author of the ConfigMap: the key,
// the position in it, the line and a caret.
func ProblemText(m *source.ConfigMap, list []document.Problem, severity document.Severity) string {
	var out []string
	size, seen := 0, map[document.Problem]bool{}
	for _, p := range list {
		if size > MaxText {
			break
		}
		if p.Severity != severity || seen[p] {
			continue
		}
		seen[p] = true
		p.File = strings.TrimPrefix(p.File, m.Path()+"/")
		if len(p.Source) > maxLine { // such a line was generated
			p.Source = ""
		}
		out = append(out, p.Pretty())
		size += len(out[len(out)-1])
	}
	return value.Cut(strings.Join(out, "\n"), MaxText)
}

// maxLine is the length of the lines that are shown, in bytes.
const maxLine = 512
