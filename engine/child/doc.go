// Package child evaluates Rego in a process of its own, which is this program
// started once more: with a limit of memory that the system holds, without an
// environment, and ended when a request takes too long. What a module does to
// that process is an error of one evaluation; the next one has a new process.
//
// It never knows what a module or a request is about.
package child
