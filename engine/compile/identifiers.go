package compile

import (
	"regexp"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

var identifierForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// identifier checks a name that expressions use, and that it is new.
func identifier(name v1alpha1.Text, what string, seen map[string]bool, at document.Position, problems *findings) bool {
	switch {
	case !name.Set():
		problems.Errorf(at, "this %s has no name", what)
	case own[name.Value]:
		problems.Hintf(name.Pos(), "take another name", "this %s cannot be named %q: every expression has that name already", what, name.Value)
	case !identifierForm.MatchString(name.Value) || reserved[name.Value]:
		problems.Hintf(name.Pos(), "letters, digits and _, not beginning with a digit, and not a word of CEL", "this %s cannot be named %q", what, name.Value)
	case seen[name.Value]:
		problems.Errorf(name.Pos(), "duplicate %s %q", what, name.Value)
	default:
		seen[name.Value] = true
		return true
	}
	return false
}

// itemName returns the name of the items of a list: the given one, or item.
func itemName(as v1alpha1.Text, at document.Position, problems *findings) string {
	if as.Set() && identifier(as, "item", map[string]bool{}, at, problems) {
		return as.Value
	}
	return "item"
}

// reserved are CEL's words.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true,
	"else": true, "for": true, "function": true, "if": true, "import": true, "let": true, "loop": true, "package": true,
	"namespace": true, "return": true, "var": true, "void": true, "while": true,
}

// own are the names that every expression has.
var own = map[string]bool{
	"object": true, "key": true, "params": true, "inputs": true, "children": true, "variables": true, "now": true, "initial": true, "leaving": true,
}
