// Package history knows how the revisions of a policy are kept: what a kept
// revision holds, how it becomes a ControllerRevision and is read from one, and
// how its text is put back into a ConfigMap. It reads and writes no cluster.
package history
