// Package children derives inputs, variables and rules from the children of a
// policy: the objects that it keeps for each primary object. A child is found by
// labels and annotations on the object itself, so that what is no longer wanted is
// deleted also after a restart or an edit of the policy.
package children
