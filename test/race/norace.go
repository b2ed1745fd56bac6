//go:build !race

package race

// Enabled reports whether the race detector is on. It makes tests several times slower, and
// drops what a sync.Pool keeps.
const Enabled = false
