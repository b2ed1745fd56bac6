package eval

// chunks hands out values that lie next to each other: one allocation for many. What
// is handed out keeps its neighbours in memory, so a chunk is small while few are
// asked for.
type chunks[T any] struct {
	free []T
	size int
}

const maxChunk = 256

// reserve makes room for so many values, neither less nor more.
func (c *chunks[T]) reserve(n int) {
	if len(c.free) < n {
		c.free = make([]T, n)
	}
}

// one returns a new value.
func (c *chunks[T]) one() *T { return &c.take(1)[0] }

// take returns n new values.
func (c *chunks[T]) take(n int) []T {
	if len(c.free) < n {
		c.size = max(n, min(2*c.size, maxChunk))
		c.free = make([]T, c.size)
	}
	out := c.free[:n:n]
	c.free = c.free[n:]
	return out
}
