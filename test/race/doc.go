// Package race reports to tests whether they run with the race detector, which takes about
// ten times as long and allocates memory of its own.
package race
