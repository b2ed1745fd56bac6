package analyze

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// The names of the key's parts, as expressions write them.
var (
	keyName      = KeyName.String()
	keyNamespace = KeyNamespace.String()
)

// Naming computes the names that an item says of keys: what a `where` compares
// with key.name and key.namespace.
type Naming struct {
	// pair returns namespace and name of one element of a list of the item.
	pair *Side
	// Otherwise name and namespace are each given by a part of its own;
	// namespace is nil when only the name is compared.
	name, namespace *Side
}

// Name is what an item names: a key of the policy. Namespace is "" when only a
// name is given.
type Name struct{ Namespace, Name string }

// HasNamespace reports whether the item names the namespace, too.
func (n *Naming) HasNamespace() bool { return n.pair != nil || n.namespace != nil }

// Names returns what an item names; scope has the item.
func (n *Naming) Names(scope expr.Scope, meter *expr.Meter) (out []Name) {
	if n.pair != nil {
		for _, key := range n.pair.Keys(scope, meter) {
			parts := splitKeys(key)
			out = append(out, Name{Namespace: parts[0], Name: parts[1]})
		}
		return out
	}
	namespaces := []string{""}
	if n.namespace != nil {
		namespaces = n.namespace.Keys(scope, meter)
	}
	for _, name := range n.name.Keys(scope, meter) {
		for _, namespace := range namespaces {
			out = append(out, Name{Namespace: namespace, Name: name})
		}
	}
	return out
}

// naming finds the parts of a `where` that compare with key.name and
// key.namespace as they are.
func (j *joiner) naming(parts []ast.Expr) *Naming {
	out := &Naming{}
	for _, part := range parts {
		if pair := j.namedPair(part); pair != nil {
			return &Naming{pair: pair}
		}
		if s := j.compared(part, keyName); s != nil && out.name == nil {
			out.name = s
		}
		if s := j.compared(part, keyNamespace); s != nil && out.namespace == nil {
			out.namespace = s
		}
	}
	if out.name == nil {
		return nil
	}
	return out
}

// compared returns the item's side of a part that compares it with a part of
// the key: an equality, a membership, or an exists with one equality.
func (j *joiner) compared(part ast.Expr, with string) *Side {
	if part.Kind() == ast.ComprehensionKind {
		return j.namedElement(part, []string{with})
	}
	if part.Kind() != ast.CallKind || len(part.AsCall().Args()) != 2 {
		return nil
	}
	args := part.AsCall().Args()
	switch part.AsCall().FunctionName() {
	case operators.Equals:
		if is(args[0], with) {
			args = []ast.Expr{args[1], args[0]}
		}
		if is(args[1], with) && itemOnly(args[0]) {
			return j.values(args[0])
		}
	case operators.In:
		if is(args[0], with) && itemOnly(args[1]) {
			return j.elements(args[1])
		}
	}
	return nil
}

// namedPair is an exists over a list of the item that compares one element with
// both parts of the key.
func (j *joiner) namedPair(part ast.Expr) *Side {
	if part.Kind() != ast.ComprehensionKind {
		return nil
	}
	return j.namedElement(part, []string{keyNamespace, keyName})
}

// namedElement is an exists over a list of the item that compares its element
// with parts of the key: each given part, once.
func (j *joiner) namedElement(part ast.Expr, with []string) *Side {
	call, ok := j.existsCall(part)
	if !ok || !itemOnly(part.AsComprehension().IterRange()) {
		return nil
	}
	c := part.AsComprehension()
	own, other, _ := j.pairs(call.Args()[1], c.IterVar(), true)
	sides := make([]ast.Expr, 0, len(with))
	for _, name := range with {
		at := slices.IndexFunc(other, func(e ast.Expr) bool { return is(e, name) })
		if at < 0 {
			return nil
		}
		sides = append(sides, own[at])
	}
	return j.list(c.IterRange(), c.IterVar(), sides)
}

func itemOnly(e ast.Expr) bool {
	u := uses(e)
	return u.item && !u.key && len(u.free) == 0
}

// is reports whether an expression is a declared name and nothing else.
func is(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// GetNaming says what an input of one object names: an object of the same name
// when the program is key.name, of the same namespace and name when it is a
// mapping of both. uses reports whether the program reads key.name at all.
func GetNaming(p *cel.Program) (name, namespace, uses bool) {
	e := p.Tree().Expr()
	uses = p.Names()[keyName]
	if e.Kind() != ast.MapKind {
		return is(e, keyName), false, uses
	}
	for _, entry := range e.AsMap().Entries() {
		field, _ := cel.LiteralString(entry.AsMapEntry().Key())
		name = name || field == "name" && is(entry.AsMapEntry().Value(), keyName)
		namespace = namespace || field == "namespace" && is(entry.AsMapEntry().Value(), keyNamespace)
	}
	return name, namespace, uses
}

// joinKeys writes several index keys as one, so that different ones never give
// the same: what separates them is escaped in each.
func joinKeys(keys []string) string {
	for i, k := range keys {
		if strings.Contains(k, "\x00") {
			keys[i] = strings.ReplaceAll(k, "\x00", "\x00\x02")
		}
	}
	return strings.Join(keys, "\x00\x01")
}

// splitKeys takes apart what joinKeys wrote.
func splitKeys(key string) []string {
	out := strings.Split(key, "\x00\x01")
	for i, k := range out {
		out[i] = strings.ReplaceAll(k, "\x00\x02", "\x00")
	}
	return out
}
