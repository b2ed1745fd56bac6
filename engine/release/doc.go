// Package release takes the finalizers of policies off the objects that have
// them, so that these can be deleted when the policies no longer run.
//
// The plan of a policy, or the status of its set, has the kinds and the names. If a name is computed, the managed fields identify the finalizers that
// the policy owns. It never removes a finalizer that another manager has set, and
// leaves the rest of the object alone.
package release
