// Package cel compiles CEL: the Kubernetes libraries, the builtins as
// functions, types from OpenAPI schemas, and templates with ${expression} in
// them. What it compiles is checked before it runs (size, shape, types) and
// bounded while it runs (cost, time, size of the result).
//
// Package analyze finds out what a compiled expression reads and uses.
package cel
