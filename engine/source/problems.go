package source

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// MaxText is the size of a text about problems, in bytes.
const MaxText = 1024

// ProblemText returns problems of a severity for the author of the ConfigMap or the PolicySet: the
// key or field, the position in it, the line and a caret.
func (c *Contents) ProblemText(list []document.Problem, severity document.Severity) string {
	shown := c.shown(list, severity)
	out := make([]string, len(shown))
	for i := range shown {
		out[i] = shown[i].Pretty()
	}
	return value.Cut(strings.Join(out, "\n"), MaxText)
}

// Causes returns the same as the causes of a refusal: each with the field of the object that it is
// about, and the position in the text of the field.
func (c *Contents) Causes(list []document.Problem, severity document.Severity) (out []metav1.StatusCause) {
	for _, p := range c.shown(list, severity) {
		field := "data"
		if _, has := c.Data[p.File]; has {
			field, p.File = "data["+p.File+"]", ""
		} else if strings.HasPrefix(p.File, "spec.") {
			field, p.File = p.File, ""
		}
		out = append(out, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: value.Cut(strings.TrimPrefix(p.Pretty(), ":"), MaxText)})
	}
	return out
}

// shown returns the problems of a severity that an author is shown, each once.
func (c *Contents) shown(list []document.Problem, severity document.Severity) (out []document.Problem) {
	size, seen := 0, map[document.Problem]bool{}
	for _, p := range list {
		if size > MaxText {
			break
		}
		if p.Severity != severity || seen[p] {
			continue
		}
		seen[p] = true
		p.File = c.short(p.File)
		if len(p.Source) > maxLine { // such a line was generated
			p.Source = ""
		}
		out = append(out, p)
		size += len(p.Pretty())
	}
	return out
}

// short returns the key of the ConfigMap, or the field of the PolicySet, that problems name as a file.
func (c *Contents) short(file string) string {
	if key, is := strings.CutPrefix(file, c.Path()+"/"); is {
		return key
	}
	if c.Set != nil {
		if field, is := strings.CutPrefix(file, c.Set.Path()+" ("); is {
			return strings.TrimSuffix(field, ")")
		}
	}
	return file
}

// maxLine is the length of the lines that are shown, in bytes.
const maxLine = 512
