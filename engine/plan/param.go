package plan

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// ParamInfo describes a param for the people who set it.
type ParamInfo struct {
	Name, Type     string
	Value, Default value.Value
	// From says who gave the value; "" is the policy's own default.
	From string
	// Required is true if a cluster must have a value for it.
	Required bool
	// Minimum, Maximum and MinLength are bounds as they were written.
	Minimum, Maximum, MinLength string
	// Enum are the values that are allowed, Items those of a list's items.
	Enum, Items []string
	Description string
	// Pos is where the policy declares it.
	Pos document.Position
}

// Unset returns an error if required params have no value. It names them and the command that
// sets one, for policies in a namespace or, if that is empty, in files.
func (p *Policy) Unset(namespace string) error {
	var names []string
	for _, one := range p.ParamInfo {
		if one.Required && one.From == "" {
			names = append(names, one.Name)
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case namespace == "":
		return fmt.Errorf("no value is given for %s; edict run --param %s.%s=VALUE gives it", paramNames(names), p.Name, names[0])
	}
	return fmt.Errorf("ParamMissing: no value is given for %s; kubectl -n %s patch policyset %s --type=merge -p '{\"spec\":{\"params\":{%q:{%q:VALUE}}}}' gives it, and so does the value params.%s.%s of the chart",
		paramNames(names), namespace, p.Set, p.Name, names[0], p.Name, names[0])
}

func paramNames(names []string) string {
	if len(names) == 1 {
		return "the param " + names[0]
	}
	return "the params " + strings.Join(names, ", ")
}
