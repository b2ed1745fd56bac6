// Package image tests the container image: that the same commit gives the same
// bytes wherever it is built, and that there is nothing else in it.
package image
