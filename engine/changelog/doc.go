// Package changelog writes a line of JSON for every write of the policies: what was
// written, by which rule, why and on what the decision depended.
package changelog
