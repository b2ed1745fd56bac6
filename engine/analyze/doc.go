// Package analyze knows what the parts of a policy depend on: which fields of
// which objects an expression reads, which names it uses, how an index answers a
// join, and which part of an expression about candidates follows from the
// candidate alone. Graph holds it for a whole policy.
package analyze
