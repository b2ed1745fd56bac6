package extender

import (
	"bytes"
	"hash/maphash"
)

// find returns the place of a pool; -1 for one that is not in the catalog.
func (c *catalog) find(name, thin []byte) int {
	return c.place(name, func(row int) bool {
		p := c.pool(row)
		return p.Name == string(name) && p.ThinPool == string(thin)
	})
}

// named returns the place of the pool of an entry of an answer that names it as requests
// do; -1 for an entry that is about none, or is written otherwise.
func (c *catalog) named(entry []byte) int {
	if !c.exact || !bytes.HasPrefix(entry, nameKey) {
		return -1
	}
	name := entry[len(nameKey):]
	return c.place(name[:max(0, bytes.IndexByte(name, '"'))], func(row int) bool { return c.begins(entry, row) })
}

// place returns the first place of those that may be of pools with a name that is the
// one; -1 for none.
func (c *catalog) place(name []byte, is func(row int) bool) int {
	mask := len(c.table) - 1
	for at := int(maphash.Bytes(seed, name)) & mask; c.table[at] != 0; at = (at + 1) & mask {
		if row := int(c.table[at] - 1); is(row) {
			return row
		}
	}
	return -1
}

// begins reports whether an entry begins with a pool as requests name it, and its score
// follows.
func (c *catalog) begins(entry []byte, row int) bool {
	name := c.name(row)
	return bytes.HasPrefix(entry, name) && bytes.HasPrefix(entry[len(name):], scoreKey)
}

// name is what requests say of a pool, up to the end of its last name.
func (c *catalog) name(row int) []byte {
	said := c.said(row, row+1)
	return said[:len(said)-len("},")]
}

// How entries of answers begin, and what follows the names.
var (
	nameKey  = []byte(`{"name":"`)
	scoreKey = []byte(`,"score":`)
)
