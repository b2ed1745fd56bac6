// Package week has times of the week: windows such as Mon-Fri 08:00-20:00 in a time zone,
// for debounced rules and for the builtin time.within, which agree about them.
//
// parse.go reads windows; span.go says when they are open. It knows no policy and no
// clock.
package week
