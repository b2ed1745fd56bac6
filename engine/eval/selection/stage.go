package selection

import (
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/value"
)

// truth returns the rows, of some, for which a stage is true and false. Rows in
// neither are unknown: there the whole expression has to be asked. Like CEL's
// own, the connectives look at their second part only where the first has not
// decided, and a false (a true) decides over a part that failed.
func (r *stagedRun) truth(s *analyze.Stage, of set) (yes, no set) {
	if of.empty() {
		return r.scratch.set(r.table.rows), r.scratch.set(r.table.rows)
	}
	switch s.Form {
	case analyze.StageOwn:
		t := r.table.column(s.Own, r.in.Scope).truths()
		return r.scratch.copy(t.yes).and(of), r.scratch.copy(t.no).and(of)
	case analyze.StageOuter:
		return r.constant(s, of)
	case analyze.StageNot:
		no, yes = r.truth(s.Parts[0], of)
		return yes, no
	case analyze.StageAnd:
		yes, no = r.truth(s.Parts[0], of)
		more, less := r.truth(s.Parts[1], r.scratch.copy(of).without(no))
		return yes.and(more), no.or(less)
	case analyze.StageOr:
		yes, no = r.truth(s.Parts[0], of)
		more, less := r.truth(s.Parts[1], r.scratch.copy(of).without(yes))
		return yes.or(more), no.and(less)
	case analyze.StageIf:
		then, otherwise := r.truth(s.Parts[0], of)
		yes, no = r.truth(s.Parts[1], then)
		more, less := r.truth(s.Parts[2], otherwise)
		return yes.or(more), no.or(less)
	case analyze.StageIn, analyze.StageEqual:
		return r.lookUp(s, of)
	default:
		return r.mixedTruth(s, of)
	}
}

// constant is a part that is the same for all rows.
func (r *stagedRun) constant(s *analyze.Stage, of set) (yes, no set) {
	yes, no = r.scratch.set(r.table.rows), r.scratch.set(r.table.rows)
	v, err := s.Outer.Eval(r.in.Scope, r.in.Meter)
	if err != nil {
		return yes, no
	}
	switch holds, ok := v.Value().(bool); {
	case ok && holds:
		return r.scratch.copy(of), no
	case ok:
		return yes, r.scratch.copy(of)
	}
	return yes, no
}

// lookUp finds the rows whose text is one of those asked for. Rows with
// anything but a text stay unknown.
func (r *stagedRun) lookUp(s *analyze.Stage, of set) (yes, no set) {
	yes, no = r.scratch.set(r.table.rows), r.scratch.set(r.table.rows)
	v, err := s.Outer.Eval(r.in.Scope, r.in.Meter)
	if err != nil {
		return yes, no
	}
	column := r.table.column(s.Own, r.in.Scope)
	texts := column.texts()
	ids := column.ids()
	if s.Form == analyze.StageEqual {
		if _, optional := v.(traits.Receiver); optional {
			return yes, no
		}
		if text, ok := value.Str(v); ok {
			ids.put(text, yes)
		}
	} else if !r.members(ids, v, yes) {
		return yes, no
	}
	yes.and(of)
	return yes, r.scratch.copy(of).and(texts).without(yes)
}

// members adds the rows with the texts that a list has as items, or a map as
// keys; false means that the value is neither.
func (r *stagedRun) members(x *ids, v value.Value, into set) bool {
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items() {
			if text, ok := value.Str(item); ok {
				x.put(text, into)
			}
		}
	case *value.Map:
		for i := range v.Len() {
			key, _ := v.At(i)
			x.put(key, into)
		}
	default:
		return false
	}
	return true
}

// tuples finds the rows among some that are equal in all keys of a stage, and
// calls a function with the first of each kind; the function's result is the
// kind's. Rows on which a key failed are left out.
type tuple [3]int32

func (r *stagedRun) tuples(s *analyze.Stage, of set, compute func(at int) error, same func(at, as int)) {
	if len(s.Keys) == 0 || len(s.Keys) > len(tuple{}) {
		for at := range each(of) {
			if compute(at) == nil {
				same(at, at)
			}
		}
		return
	}
	var keys [len(tuple{})]*ids
	for i, p := range s.Keys {
		keys[i] = r.table.column(p, r.in.Scope).ids()
	}
	seen := map[tuple]int{}
	for at := range each(of) {
		id, ok := tupleOf(keys[:len(s.Keys)], at)
		if !ok {
			continue
		}
		as, known := seen[id]
		if !known {
			as = at
			if compute(at) != nil {
				as = -1
			}
			seen[id] = as
		}
		if as >= 0 {
			same(at, as)
		}
	}
}

func tupleOf(keys []*ids, at int) (id tuple, ok bool) {
	for i, k := range keys {
		if k.of[at] < 0 {
			return id, false
		}
		id[i] = k.of[at]
	}
	return id, true
}

func (r *stagedRun) mixedTruth(s *analyze.Stage, of set) (yes, no set) {
	yes, no = r.scratch.set(r.table.rows), r.scratch.set(r.table.rows)
	r.tuples(s, of, func(at int) error {
		v, err := r.eval(s.Mixed, at)
		if err != nil {
			return err
		}
		switch holds, ok := v.Value().(bool); {
		case ok && holds:
			yes.put(at)
		case ok:
			no.put(at)
		default:
			return errUnknown
		}
		return nil
	}, func(at, as int) {
		if yes.has(as) {
			yes.put(at)
		} else {
			no.put(at)
		}
	})
	return yes, no
}

// numbers evaluates a stage that gives whole numbers, for some rows. Rows that
// are not in known afterwards are unknown.
func (r *stagedRun) numbers(s *analyze.Stage, of set, out []int64, known set) {
	if of.empty() {
		return
	}
	switch s.Form {
	case analyze.StageOwn:
		vals := r.table.column(s.Own, r.in.Scope).cells.values()
		for at := range each(of) {
			if n, ok := value.Int(vals[at]); ok {
				out[at] = n
				known.put(at)
			}
		}
	case analyze.StageOuter:
		r.sameNumber(s, of, out, known)
	case analyze.StageIf:
		then, otherwise := r.truth(s.Parts[0], of)
		r.numbers(s.Parts[1], then, out, known)
		r.numbers(s.Parts[2], otherwise, out, known)
	default:
		r.mixedNumbers(s, of, out, known)
	}
}

func (r *stagedRun) sameNumber(s *analyze.Stage, of set, out []int64, known set) {
	v, err := s.Outer.Eval(r.in.Scope, r.in.Meter)
	if err != nil {
		return
	}
	n, ok := value.Int(v)
	if !ok {
		return
	}
	known.or(of)
	if n == 0 {
		return // as it is
	}
	for at := range each(of) {
		out[at] = n
	}
}

func (r *stagedRun) mixedNumbers(s *analyze.Stage, of set, out []int64, known set) {
	if s.Mixed == nil {
		return
	}
	r.tuples(s, of, func(at int) error {
		v, err := r.eval(s.Mixed, at)
		if err != nil {
			return err
		}
		n, ok := value.Int(v)
		if !ok {
			return errUnknown
		}
		out[at] = n
		return nil
	}, func(at, as int) {
		out[at] = out[as]
		known.put(at)
	})
}
