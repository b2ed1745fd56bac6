// Package coverage says which parts of policies have been used by decisions: rules,
// rows of decision tables, both values of each part of a condition, steps of
// selections, and lines of Rego modules.
package coverage
