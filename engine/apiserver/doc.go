// Package apiserver is an API server in memory: what policies are tested and
// simulated against.
//
// It follows kube-apiserver in what a controller's writes depend on: creation,
// merge patches, server-side apply with managedFields (by the code that
// kube-apiserver runs), status as a subresource, resourceVersion and
// generation, preconditions, finalizers, the three propagation policies of a
// deletion and the garbage collector. Objects are defaulted and pruned by the
// schemas of their kinds. Those of custom kinds are validated by their CRDs, by the
// libraries of kube-apiserver; of built-in kinds immutable fields are known, the fields that
// a new object must have, names, which values some fields take, and that an object selects
// the Pods of its template. Metadata are validated by the library that kube-apiserver uses.
//
// It does not validate what else kube-apiserver validates by Go code, run admission,
// or apply the defaults that kube-apiserver has in Go code only. test/conformance
// compares it with a real one.
package apiserver
