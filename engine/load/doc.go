// Package load turns bytes into the documents of engine/api/v1alpha1.
//
// Decoding is strict: an unknown field, a value of the wrong shape or a key
// that stands twice is a problem with its place, and all problems of a
// document are found in one go. What the fields mean is not judged here. A
// document for several kinds is returned as a policy for each of them.
package load
