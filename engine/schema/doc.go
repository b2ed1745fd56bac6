// Package schema knows the shape of Kubernetes kinds: which fields they have,
// of which types, and which of their strings are date-times.
//
// Types come from three places: the built-in kinds from an OpenAPI document
// that was generated from a real API server and is part of this package, CRDs
// from a folder of manifests, and everything from a running cluster. A kind
// that none of them knows has no type, and expressions over it are untyped.
package schema
