// Package policytest runs policy tests: worlds as data, what happens to them,
// and what must come of it. Every case runs in a simulation of its own.
package policytest
