package children

import (
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// KindWritten reports an object whose apiVersion or kind is absent or computed.
func KindWritten(manifest *document.Node, problems Problems) bool {
	const hint = "write it out, so that the needed permissions are known"
	for _, field := range []string{"apiVersion", "kind"} {
		switch n := manifest.Get(field); {
		case n == nil || n.Kind != document.String || n.Text == "":
			problems.Hintf(manifest.Pos, "such as {apiVersion: v1, kind: ConfigMap, ...}, written out", "the object needs apiVersion and kind")
			return false
		case strings.Contains(n.Text, "${"):
			problems.Hintf(n.Pos, hint, "apiVersion and kind cannot be computed")
			return false
		}
	}
	return true
}
