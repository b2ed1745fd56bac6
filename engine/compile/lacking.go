package compile

import (
	"cmp"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// maxListed is how many keys a hint lists.
const maxListed = 6

// formOf returns what the text says of the keys of what a program gives.
func formOf(s *scope, p *cel.Program) *analyze.Form {
	form, _ := analyze.FormOf(p, s.form)
	return form
}

// form returns what the text says of the keys of the value of a name.
func (s *scope) form(name string) *analyze.Form {
	if _, local := s.flows[name]; local {
		return s.forms[name]
	}
	return s.names.forms[name]
}

// formed returns a scope with what the text says of the keys of one of its names.
func formed(s *scope, name string, form *analyze.Form) *scope {
	out := *s
	out.forms = added(s.forms, name, form)
	return &out
}

// lacking notes the keys that a program takes from mappings that never have them.
func (n *names) lacking(p *cel.Program, form func(name string) *analyze.Form) {
	_, lacks := analyze.FormOf(p, form)
	n.lacks = append(n.lacks, lacks...)
}

// lackingKeys reports the keys that expressions take from mappings without them. A key that one
// asks for elsewhere is meant to be absent, and what takes it there may never be evaluated.
func lackingKeys(list []analyze.Lack, problems *findings) {
	asked := map[string]bool{}
	for _, l := range list {
		asked[l.Key] = asked[l.Key] || l.Asks
	}
	for _, l := range list {
		if !asked[l.Key] {
			problems.Hintf(l.At, cmp.Or(document.DidYouMean(l.Key, l.Keys), has(l.Keys)), "the mapping has no key %q", l.Key)
		}
	}
}

func has(keys []string) string {
	if len(keys) == 0 || len(keys) > maxListed {
		return ""
	}
	return "it has " + strings.Join(keys, ", ")
}
