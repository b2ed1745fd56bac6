package configmap

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// MaxText is the size of a text in an annotation, in bytes.
const MaxText = 1024

// ProblemText returns problems of a severity for the author of the ConfigMap: the key,
// the position in it, the line and a caret.
func ProblemText(m *source.ConfigMap, list []document.Problem, severity document.Severity) string {
	shown := shownTo(m, list, severity)
	out := make([]string, len(shown))
	for i := range shown {
		out[i] = shown[i].Pretty()
	}
	return value.Cut(strings.Join(out, "\n"), MaxText)
}

// Causes returns the same as the causes of a refusal: each with the field of the ConfigMap
// that it is about, and the position in the text of the field.
func Causes(m *source.ConfigMap, list []document.Problem, severity document.Severity) (out []metav1.StatusCause) {
	for _, p := range shownTo(m, list, severity) {
		field := fieldOf(m, p.File)
		if field == "" {
			field = "data"
		} else {
			p.File = ""
		}
		out = append(out, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: value.Cut(strings.TrimPrefix(p.Pretty(), ":"), MaxText)})
	}
	return out
}

// fieldOf returns the path of the field that a problem is about, by the file that its text
// shows; "" is none of the ConfigMap.
func fieldOf(m *source.ConfigMap, file string) string {
	if _, has := m.Data[file]; has {
		return "data[" + file + "]"
	}
	if annotation, is := m.AnnotationOf(file); is {
		return "metadata.annotations[" + annotation + "]"
	}
	return ""
}

// shownTo returns the problems of a severity that the author of a ConfigMap is shown, each
// once.
func shownTo(m *source.ConfigMap, list []document.Problem, severity document.Severity) (out []document.Problem) {
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
		out = append(out, p)
		size += len(p.Pretty())
	}
	return out
}

// maxLine is the length of the lines that are shown, in bytes.
const maxLine = 512
