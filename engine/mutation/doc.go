// Package mutation measures how much tests notice: it changes policies in small ways,
// one at a time, and runs the tests of each. A change after which all tests pass is
// one that nothing tests.
package mutation
