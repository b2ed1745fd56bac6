// Package compile turns a policy document into a plan, or into a list of
// positioned problems: all of it or nothing.
//
// It types every expression against the schemas of the kinds, orders the
// variables by what they use, traces every read to the field of the object it
// comes from, and derives the sources, indexes and write sets of the policy.
//
// sections.go connects the sections: params, primary object, inputs, variables, rules,
// limits, metrics. A section is given what it depends on, and returns its part of
// the plan with its node of the graph. Every expression is compiled in a scope,
// which holds the names that it may use and the node that depends on them.
package compile
