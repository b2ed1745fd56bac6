// Package verify runs policies in all small worlds that it can reach: in every order in
// which keys may be decided about, with the process killed after each write, at each
// deadline, and with changes from outside. It reports the first world in which they do
// not do what every set of policies should, as a test that fails.
//
// A state is what a simulation (engine/simulate) has: objects, keys to decide about,
// what is remembered or put off, and deadlines. Nothing of a simulation is copied: a
// state is the list of moves that leads to it from the start, and is reached again by
// making them again.
//
// What is found is never taken from the search itself: it is run once more as the steps
// of a test, beside the same steps in the usual order, and only a difference between
// the two is reported.
package verify
