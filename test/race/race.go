//go:build race

// Package race says whether tests run with the race detector.
package race

// Enabled reports whether the race detector is on. It makes tests several times slower, and
// drops what a sync.Pool keeps.
const Enabled = true
