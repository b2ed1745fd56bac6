package check

import (
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// finder adds what it finds in one policy.
type finder func(p *policy)

// finders look at one policy each.
var finders = []finder{allowances, absentFields, unused, selfFeeding, ownObjects, conditions, neverEqual, quantities, quantitiesOfNumbers, literals, missingFields, unlimited, unowned, wholeObjects, rest}

// Findings returns what is wrong with policies: the problems of loading them, and
// what there is to say about those that compile, in the order of the files. What a
// comment accepts is left out.
func Findings(b *source.Bundle) []document.Problem {
	list, _ := findings(b, func(*source.Unit) bool { return true })
	return list
}

// findings looks at some policies by themselves, and at all of them together.
func findings(b *source.Bundle, alone func(*source.Unit) bool) ([]document.Problem, Related) {
	problems, related := &document.Problems{}, Related{}
	problems.Append(b.Problems)
	var each source.Findings
	for _, u := range b.Units {
		if !alone(u) {
			continue
		}
		p := b.Policy(u)
		if p == nil || wrong(b, u.File.Path) {
			continue // what was not read in full would be said to be missing
		}
		one := &policy{plan: p, unit: u, bundle: b, problems: &document.Problems{}, text: document.NewSource(u.File.Path, u.File.Text)}
		for _, find := range finders {
			find(one)
		}
		each.Add(u, one.problems.List())
	}
	problems.Append(each.List())
	documentNames(b, problems)
	together(b, problems, related)
	twice(b, related)
	return accepted(b, problems.List()), related
}

// AtLeast returns the findings of a severity or a worse one.
func AtLeast(list []document.Problem, lowest document.Severity) []document.Problem {
	return slices.DeleteFunc(slices.Clone(list), func(p document.Problem) bool { return weight[p.Severity] < weight[lowest] })
}

var weight = map[document.Severity]int{document.Note: 1, document.Warning: 2, document.Error: 3}

// Severity returns the severity of a name; false when there is none of it.
func Severity(name string) (document.Severity, bool) {
	s := document.Severity(name)
	return s, weight[s] > 0
}

// CodeOf returns the code of a finding, also of one without its own.
func CodeOf(p document.Problem) document.Code {
	if p.Code == "" {
		return document.Invalid
	}
	return p.Code
}

// Page returns the page of a code.
func Page(code document.Code) string {
	return "https://github.com/edict-dev/edict/blob/main/docs/checks/" + string(code) + ".md"
}
