// Package format brings documents of Edict into one layout: indentation by two
// spaces, the sections in one order, no trailing white space, single
// empty lines. Comments, quotes and expressions stay as they are, and so does the
// revision of a policy. It moves lines; it does not write YAML anew.
package format
