// Package gitops tests what Argo CD and Flux show as the health of a PolicySet.
package gitops
