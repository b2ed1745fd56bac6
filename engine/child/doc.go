// Package child answers requests in a process of its own, which is this program
// started once more: with a limit of memory that the system holds, without an
// environment, and ended when a request takes too long. What a request does to
// that process is an error of that request; the next one has a new process.
//
// It never knows what a request is about: services read the requests, and each has a name.
package child
