package selection

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// memberColumn returns the column of an expression about candidates as members
// of a group. Mostly it reads a field that has a column already.
func (t *table) memberColumn(d *analyze.FoldDistinct, scope expr.Scope) *column {
	if known := t.known(t.fieldOf(d)); known != nil {
		return known
	}
	return t.columnOf(columnKey{source: d.Of.Source(), member: true}, func() *column { return t.computeMember(d, nil, nil, scope) })
}

// fieldOf returns an expression about candidates by themselves that comes to the same, where
// one about members reads but a field of an item; "" where it does more.
func (t *table) fieldOf(d *analyze.FoldDistinct) string {
	path, ok := strings.CutPrefix(d.Of.Source(), d.Variable+".")
	level, fields, _ := strings.Cut(path, ".")
	if !ok || !slices.Contains(t.sel.Names, level) || strings.ContainsFunc(fields, notInPath) {
		return ""
	}
	return path
}

// notInPath reports whether a character is none of names with dots between them.
func notInPath(c rune) bool {
	return c != '.' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// known returns a column of candidates by themselves that was computed; nil for none.
func (t *table) known(source string) *column {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns[columnKey{source: source}]
}

// computeMember is compute for an expression about members of a group.
func (t *table) computeMember(d *analyze.FoldDistinct, old *column, l *legacy, scope expr.Scope) *column {
	f := t.start(d.Of, old, l)
	f.vector(scope, func(b *direct.Batch, rows []int32) {
		b.Members = map[string]map[string][]value.Value{d.Variable: f.naming.named(rows)}
	})
	r := &row{Scope: scope, names: []string{d.Variable}, values: make([]value.Value, 1)}
	inner, names := t.scope(nil), value.NamesOf(t.sel.Names...)
	f.plainly(r, func(at int) {
		t.fill(inner, at)
		r.values[0] = names.Map(inner.values...)
	})
	out := f.column(old, l)
	if out != old {
		out.again = func(t *table, l *legacy, scope expr.Scope) *column { return t.computeMember(d, out, l, scope) }
	}
	return out
}
