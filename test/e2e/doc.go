// Package e2e tests the controller on a real control plane: what only a real
// API server can show. Decisions are tested as data under policy-tests.
package e2e
