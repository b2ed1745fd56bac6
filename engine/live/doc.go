// Package live answers for a running controller why it decided as it did: from the
// record of the last decision about an object, or else by a fresh evaluation that
// writes nothing and calls nothing.
package live
