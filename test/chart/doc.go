// Package chart tests charts/edict with a real helm: what it renders, what it
// refuses, that a real API server takes every object of it, and that the
// controller runs with the permissions that it grants.
package chart
