// Package capture writes a decision down as a policy test: the objects that were
// read, as far as they were read, the time, the params, the answers of builtins and
// what was remembered, and as expectation what the decision does.
package capture
