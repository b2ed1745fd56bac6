// Package explore serves a page on which people look at the decisions of policies:
// why a decision comes out as it does, what it read and would write, when it
// changes by itself, and what an edit or another param would change. It evaluates
// manifests, or objects that were read from a cluster, in memory, and writes nothing
// anywhere.
package explore
