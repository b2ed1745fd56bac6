// Package compare says what an edit of policies changes: it runs the policies
// before and after the edit on the same objects, each until nothing is left to
// do, and compares the objects at the end, field by field.
package compare
