package lsp

import (
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// loop is a name that a macro declares, such as x in items.filter(x, x.ready).
type loop struct {
	name string
	// at is where in the expression it is declared.
	at     int
	cursor *cursor
	uses   []cel.Use
}

// loopAt returns the name of a macro at a place; nil when there is none.
func (a *analysis) loopAt(p document.Position) *loop {
	c := a.cursorAt(p)
	if c == nil {
		return nil
	}
	list, err := cel.Uses(c.text)
	if err != nil {
		return nil
	}
	for _, u := range list {
		if u.Declared != cel.Outside && c.offset >= u.Start && c.offset <= u.Start+len([]rune(u.Name)) {
			return &loop{u.Name, u.Declared, c, list}
		}
	}
	return nil
}

// declared returns where the name is declared.
func (l *loop) declared() document.Position { return l.cursor.node.At(l.cursor.start + l.at) }

// renaming renames the name where it is declared and where it stands for that.
func (l *loop) renaming(to string) (*renaming, error) {
	r := &renaming{name: l.name, to: to}
	part := part{l.cursor.text, l.cursor.start}
	return r, r.in(l.cursor.node, part, l.uses, func(u cel.Use) bool { return u.Declared == l.at })
}

// in renames the uses in an expression that stand for the name, unless that changes
// what another use stands for.
func (r *renaming) in(n *document.Node, e part, before []cel.Use, stands func(cel.Use) bool) error {
	text, grown := []rune(e.text), 0
	for _, u := range before {
		if stands(u) {
			r.at = append(r.at, n.At(e.start+u.Start))
			text = slices.Replace(text, u.Start+grown, u.Start+grown+len([]rune(r.name)), []rune(r.to)...)
			grown += len([]rune(r.to)) - len([]rune(r.name))
		}
	}
	r.sort()
	after, err := cel.Uses(string(text))
	if err != nil || len(after) != len(before) {
		return refuse("the expression on line %d cannot be read with the name %s", n.At(e.start).Line, r.to)
	}
	for i, u := range after {
		same := declaredBy(after, u) == declaredBy(before, before[i])
		if taken := u.Declared == cel.Outside && u.Name == r.to && !stands(before[i]); taken || !same {
			return refuse("%s is used already on line %d, for something else", r.to, n.At(e.start+before[i].Start).Line)
		}
	}
	return nil
}

// declaredBy returns which of some uses declares the name of one; -1 when none does.
func declaredBy(list []cel.Use, u cel.Use) int {
	return slices.IndexFunc(list, func(other cel.Use) bool { return other.Start == u.Declared })
}

// localRenaming renames a name of a rule, a collection, children or a selection.
func (a *analysis) localRenaming(d *declaration, to string) (*renaming, error) {
	r := &renaming{name: d.full, to: to, at: []document.Position{d.name.At(0)}}
	places := sites(a.root(d.name.Pos))
	for _, other := range a.locals(places[d.name.Pos]) {
		if other.full == to && (d.sees(places[other.name.Pos]) || other.sees(places[d.name.Pos])) {
			return nil, refuse("there is %s %s already, on line %d", other.what, to, other.name.Pos.Line)
		}
	}
	for _, e := range a.seen {
		s, known := places[e.node.Pos]
		if !known || !d.sees(s) || s.field == "namespace" { // that of an input uses params, any other is plain
			continue
		}
		if err := a.renameIn(r, d, e, s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// renameIn renames a local name in a scalar.
func (a *analysis) renameIn(r *renaming, d *declaration, e seen, s site) error {
	owner := a.owner(d.full, s)
	meant := owner != nil && owner.name == d.name
	own := func(u cel.Use) bool { return meant && u.Name == d.full && u.Declared == cel.Outside }
	for _, one := range expressionsOf(e.node, e.whole && slices.Contains(expressionFields, s.field)) {
		list, err := cel.Uses(one.text)
		if err != nil {
			return refuse("the expression on line %d has to be mended first: %v", e.node.At(one.start).Line, err)
		}
		if err := r.in(e.node, one, list, own); err != nil {
			return err
		}
	}
	return nil
}
