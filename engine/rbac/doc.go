// Package rbac words what policies must be allowed to do as rules of
// Kubernetes' role-based access control.
//
// What is needed is derived by the plan; here kinds become resources, and
// verbs of one place become rules. A rule never allows more than was asked for,
// not even a combination of its lists.
package rbac
