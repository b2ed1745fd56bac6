// Package validation validates the objects of kinds that CRDs define as kube-apiserver
// does, by its own libraries: the OpenAPI schema, the keys of lists, embedded objects, and
// the rules under x-kubernetes-validations.
package validation
