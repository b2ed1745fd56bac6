// Package release takes the finalizers of policies off the objects that have
// them, so that these can be deleted when the policies no longer run.
//
// What a policy leaves behind is known from its plan: the kinds, and the names
// as far as the text gives them. A name that only an evaluation tells is found
// by who owns it, in the managed fields. It never removes a finalizer that
// another has set, and nothing but finalizers.
package release
