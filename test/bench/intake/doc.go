// Package intake measures what it takes to take objects in, of each kind that the
// shipped policies read and of which there are many: from the JSON of a watch event to
// the read model and to keys, and what the first evaluation of these keys adds.
package intake
