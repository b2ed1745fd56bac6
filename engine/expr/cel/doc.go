// Package cel compiles CEL: the Kubernetes libraries, the builtins as
// functions, types from OpenAPI schemas, and templates with ${expression} in
// them. What it compiles is checked before it runs (size, shape, types) and
// bounded while it runs (cost, time, size of the result).
//
// Besides running, a compiled expression can be asked what it reads
// (flow.go), so that watches, filters and indexes follow from the text of a
// policy, and how a join can be answered by an index (join.go).
package cel
