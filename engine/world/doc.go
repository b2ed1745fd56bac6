// Package world is the read model: the objects that policies read, indexed the
// way their joins need.
//
// A Store holds one table per source (a kind, narrowed by namespace and label
// selector). A Snapshot is a frozen view of all tables: taking one costs
// nothing, and an evaluation sees the same world from its first read to its
// last however many events arrive meanwhile. Stores are fed by informers or by
// the in-memory API server; evaluations cannot tell the difference.
package world
