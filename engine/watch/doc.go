// Package watch maps a change in the world to the keys whose decision it may
// change, and to no others.
//
// A Router does so for one policy. A change of a primary wakes its own key, if
// a field that the policy reads has changed. A change of an input wakes the
// keys for which the object was or is a member, if membership or a field that
// is read has changed; these keys are found through the same joins that find
// the members of a key, in the other direction. A change of an entry of a map
// wakes the keys that looked that entry up.
package watch
