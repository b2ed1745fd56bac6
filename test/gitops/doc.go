// Package gitops tests the health checks of docs/gitops.md in the engines of Argo CD
// and Flux.
package gitops
