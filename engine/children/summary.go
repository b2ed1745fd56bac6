package children

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// The types of the conditions of kstatus; see sigs.k8s.io/cli-utils/pkg/kstatus.
const (
	reconciling = "Reconciling"
	stalled     = "Stalled"
)

// summary is the rule that keeps the conditions of the summary; none without one.
func (e *expansion) summary(sets []*set) []*document.Node {
	doc := e.policy.Spec.Summary
	if doc == nil {
		return nil
	}
	at := doc.Pos
	var failed, waiting []string
	for _, s := range sets {
		named := fmt.Sprintf("map(n, %q + n", s.doc.Apply.Node.Get("kind").Text+" ")
		failed = append(failed, fmt.Sprintf(`variables.wanted_%[1]s.filter(n, n in variables.failed_%[1]s).%[2]s + ": " + __failures[%[1]q][n])`, s.name, named))
		waiting = append(waiting, fmt.Sprintf(`variables.wanted_%[1]s.filter(n, !(n in variables.failed_%[1]s) && !(n in variables.ready_%[1]s)).%[2]s + (n in children.%[1]s ? " is not ready" : " does not exist yet"))`, s.name, named))
	}
	local := func(name, expression string) *document.Node {
		return mapping(at, field{"name", document.NewText(at, name)}, field{"expression", document.NewText(at, expression)})
	}
	condition := func(name, status string) *document.Node {
		return mapping(at, field{"condition", mapping(at, field{"type", document.NewText(at, name)}, field{"status", document.NewText(at, `${`+status+` ? "True" : "False"}`)},
			field{"reason", document.NewText(at, "${reason}")}, field{"message", document.NewText(at, `${(failed + waiting)[?0].orValue("")}`)})})
	}
	ready := cmp.Or(doc.Condition.Value, "Ready")
	do := []*document.Node{condition(ready, "size(failed + waiting) == 0")}
	broken := []*document.Node{mapping(at, field{"condition", mapping(at, field{"type", document.NewText(at, ready)}, field{"status", document.NewText(at, "False")},
		field{"reason", document.NewText(at, "Failed")}, field{"message", document.NewText(at, "${error.message}")})})}
	if doc.Kstatus {
		do = append(do, condition(reconciling, "size(failed) == 0 && size(waiting) > 0"), condition(stalled, "size(failed) > 0"))
	}
	return []*document.Node{mapping(at, field{"name", document.NewText(at, "summary of the children")}, field{"when", document.NewText(at, "!variables."+releasedName)},
		field{"variables", document.NewList(at, local("failed", strings.Join(failed, " + ")), local("waiting", strings.Join(waiting, " + ")),
			local("reason", `size(failed) > 0 ? "Failed" : size(waiting) > 0 ? "Progressing" : "Ready"`))},
		field{"do", document.NewList(at, do...)}, field{"onError", document.NewList(at, broken...)}, field{"continueOnError", truth(at)})}
}
