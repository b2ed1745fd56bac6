// Package cluster reads what commands need of a live cluster: the types of kinds
// and lists of objects. It sends no request that changes anything.
package cluster
