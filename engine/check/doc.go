// Package check finds what is wrong with policies beyond what refuses them: what
// a compiled policy says by itself, and what policies do to each other. It never
// refuses a policy; what it is not sure of it does not report. Every finding has a
// code, a page in docs/checks, and can be accepted by a comment beside it.
package check
