// Package explain says in sentences and tables why a decision came out as it did.
// It works from the record of the decision alone.
package explain
