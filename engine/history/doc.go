// Package history keeps the texts of PolicySets in ControllerRevisions, and chooses which of them a
// set runs. It reads and writes no cluster.
package history
