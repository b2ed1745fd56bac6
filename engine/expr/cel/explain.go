package cel

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
)

// hinting says of what CEL found what is meant by it, and how to mend it.
type hinting struct {
	env *Env
	// condition says that the expression stands alone, so that it may not use now.
	condition bool
}

var (
	undefinedField = regexp.MustCompile(`^undefined field '([^']+)'`)
	undeclared     = regexp.MustCompile(`^undeclared reference to '([^']+)'`)
)

// hiddenArgument removes the argument that calls of some builtins get besides those
// that an author writes.
var hiddenArgument = strings.NewReplacer(", edict.Call)", ")", "(edict.Call)", "()")

// explain says in a person's words what CEL found, and how to mend it; from is
// the expression from the place on that CEL complains about. Without guess it does
// not look for names that are alike.
func (h hinting) explain(message, from string, guess bool) (text, hint string) {
	message = strings.TrimSuffix(strings.ReplaceAll(message, " (in container '')", ""), "\n")
	message = protobufNames.Replace(hiddenArgument.Replace(message))
	if m := undefinedField.FindStringSubmatch(message); m != nil {
		if guess {
			hint = h.fieldHint(m[1])
		}
		return fmt.Sprintf("no field %q here", m[1]), hint
	}
	if m := undeclared.FindStringSubmatch(message); m != nil {
		return h.undefined(m[1], from, guess)
	}
	if text, hint := valueProblem(message); text != "" {
		return text, hint
	}
	switch {
	case strings.HasPrefix(message, "expected type 'bool' but found"):
		return message, "a condition is true or false, as x != 0, x != \"\" and size(x) > 0 are; the items of a list have one type"
	case strings.Contains(message, "expected type") && strings.Contains(message, "but found"),
		strings.Contains(message, "mixed element types"):
		return message, "where types are mixed on purpose, dyn(x) around each of the values makes them untyped; values that are written as YAML need nothing"
	case strings.Contains(message, "found no matching overload"):
		return h.mismatch(message, guess)
	case strings.HasPrefix(message, "Syntax error"):
		return syntaxProblem(message, from)
	}
	return message, messageHint(message)
}

// notTaken is what CEL says of arguments that a function does not take.
var notTaken = regexp.MustCompile(`^found no matching overload for '([^']+)' applied to '(.*)'$`)

// mismatch says which types do not go together, and how they are brought together.
func (h hinting) mismatch(message string, guess bool) (text, hint string) {
	hint = overloadHint(message)
	m := notTaken.FindStringSubmatch(message)
	if m == nil {
		return message, hint
	}
	if f := h.env.functions.scanIn(message); f != nil {
		hint = "it is called as " + f.Signature()
	} else if hint == "" && guess {
		hint = h.calledAs(m[1])
	}
	return strings.Replace(message, "'"+m[1]+"'", "'"+written(m[1])+"'", 1), hint
}

// written returns the name of a function, or an operator as authors write it.
func written(function string) string {
	switch function {
	case operators.Conditional:
		return "? :"
	case operators.Index:
		return "[]"
	case operators.OptIndex:
		return "[?]"
	}
	if sign, ok := operators.FindReverse(function); ok && sign != "" {
		return sign
	}
	return function
}

// calledAs says which arguments a function takes.
func (h hinting) calledAs(name string) string {
	if f := h.env.functions[name]; f != nil {
		return "it is called as " + f.Signature()
	}
	if forms := h.env.Signatures()[name]; len(forms) > 0 && len(forms) <= maxInScope {
		return "it is called as " + strings.Join(forms, ", or ")
	}
	return "it does not take these types"
}

// undefined says that there is no such name, and which one may be meant.
func (h hinting) undefined(name, from string, guess bool) (text, hint string) {
	if full := h.dottedName(from); strings.HasPrefix(full, name+".") {
		name = full
	}
	if guess {
		hint = h.nameHint(name, from)
	}
	if guess && hint == "" && !strings.HasPrefix(from, "(") { // which is a call
		hint = inScope(name, h.inScope())
	}
	return fmt.Sprintf("undefined name %q", name), hint
}

// dotted is a name such as variables.x, or the beginning of a field access.
var dotted = regexp.MustCompile(`^([A-Za-z_]\w*)\.[A-Za-z_]\w*`)

// dottedName returns the name of a variable or builtin with a dot in it that a
// text begins with; "" when it begins with none.
func (h hinting) dottedName(text string) string {
	m := dotted.FindStringSubmatch(text)
	if m == nil || !slices.Contains(qualifiers, m[1]) && !h.env.functions.qualified(m[1]) {
		return ""
	}
	return m[0]
}

// nameHint says what was probably meant by a name that is not defined.
func (h hinting) nameHint(name, from string) string {
	if known, ok := elsewhere[name]; ok {
		return "write " + known
	}
	if hint := h.rootHint(name, from); hint != "" {
		return hint
	}
	qualifier, bare, qualified := strings.Cut(name, ".")
	if !qualified {
		bare = name
	}
	meant := []string{qualify(QualifyInputs, bare), qualify(QualifyVariables, bare), qualify(QualifyParams, bare)}
	if qualified {
		meant = append([]string{bare}, meant...) // a variable of the rule, or the item of a list
	}
	names := append(h.env.Names(), h.env.later...)
	for _, m := range meant {
		if slices.Contains(names, m) {
			return document.DidYouMean(m, []string{m})
		}
	}
	if !qualified || !slices.Contains(qualifiers, qualifier) {
		return cmp.Or(document.DidYouMean(name, names), quotes(name))
	}
	var same []string // what is alike in two names is more than their qualifier
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, qualifier+"."); ok && !strings.HasPrefix(n, unlisted) {
			same = append(same, rest)
		}
	}
	if len(same) == 0 && qualifier != "key" {
		return "there are no " + qualifier + " here: the policy declares none, or none before this place"
	}
	return strings.Replace(document.DidYouMean(bare, same), `"`, `"`+qualifier+".", 1)
}

// rootHint says what is written in place of the names that every object has, or that every
// expression but those about params has.
func (h hinting) rootHint(name, from string) string {
	names := h.env.Names()
	switch name {
	case "metadata", "spec", "status":
		hint := ""
		for _, root := range []string{"object", "item"} {
			_, wrong := h.env.base().Compile(root + "." + twoFields.FindString(from))
			if slices.Contains(names, root) && (hint == "" || wrong.Err() == nil) {
				hint = "write " + root + "." + name
			}
		}
		return hint
	case "params", "inputs", "variables", "children":
		return "it is read with a name: " + name + ".NAME"
	case "item":
		if slices.Contains(names, "object") {
			return "item is the item of a forEach, or of an input in its where, keyBy, groupBy and orderBy"
		}
	case "key":
		if slices.Contains(names, "key.name") {
			return "write key.name or key.namespace"
		}
	}
	if slices.Contains([]string{"object", "key", "key.name", "key.namespace", "item"}, name) && !slices.Contains(names, "object") {
		return "only params may be used here"
	}
	return ""
}

// twoFields matches the fields that a text begins with.
var twoFields = regexp.MustCompile(`^\w+(\.\??\w+)?`)

// unlisted begins the names of inputs that a policy with children has without declaring them.
const unlisted = "inputs.unlisted_"

// maxInScope is how many names a hint lists.
const maxInScope = 12

// inScope returns all names but those of derived expressions, memory among them.
func (h hinting) inScope() []string {
	names := slices.DeleteFunc(h.env.Names(), func(n string) bool {
		return strings.HasPrefix(n, "__") || strings.HasPrefix(n, unlisted) || n == "now" && h.condition
	})
	if slices.Contains(names, "object") && h.env.functions.qualified("memory") {
		names = append(names, "memory")
	}
	return names
}

// inScope lists the names that there are: those with the qualifier of a name, such as
// inputs, or else those without one and the qualifiers. An item has the name that its list
// gives it.
func inScope(name string, names []string) string {
	qualifier, _, qualified := strings.Cut(name, ".")
	same := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, qualifier+".") })
	if !qualified || len(same) == 0 {
		same = nil
		for _, n := range names {
			first, _, _ := strings.Cut(n, ".")
			same = append(same, first)
		}
	}
	slices.Sort(same)
	same = slices.Compact(same)
	if len(same) == 0 || len(same) > maxInScope {
		return ""
	}
	return "names here are " + strings.Join(same, ", ")
}

// quotes says how a text is written that looks like one of the values of a field, such as
// Running: names of variables begin with a small letter.
func quotes(name string) string {
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsUpper(first) {
		return fmt.Sprintf("a text is written in quotes: %q", name)
	}
	return ""
}

// escaped is how the API server's own expressions write names that are no words.
var escaped = strings.NewReplacer("__dot__", ".", "__dash__", "-", "__slash__", "/", "__underscores__", "__")

// unescaped is the name of the field that is written as in the API server's expressions.
func unescaped(name string) string {
	if word, ok := strings.CutPrefix(name, "__"); ok && strings.HasSuffix(word, "__") && escaped.Replace(name) == name {
		return strings.TrimSuffix(word, "__")
	}
	return escaped.Replace(name)
}

// backticks returns a hint for a field whose name is reserved or is no identifier.
func backticks(field string) string { return "it is written in backticks: .`" + field + "`" }

// fieldHint says what was probably meant by a field that a type does not have.
func (h hinting) fieldHint(name string) string {
	switch name {
	case "name", "namespace", "labels", "annotations", "uid", "finalizers", "ownerReferences", "deletionTimestamp", "creationTimestamp":
		return "it is in metadata: write .metadata." + name
	}
	known := within(h.env)
	for other := range known.names {
		if unescaped(name) == other && name != other || strings.HasPrefix(other, name+"-") {
			return backticks(other)
		}
	}
	if why := known.withheld(name); why != "" {
		return why
	}
	if known.names[name] {
		return known.elsewhere(name)
	}
	return document.DidYouMean(name, slices.Sorted(maps.Keys(known.names)))
}
