// Package mutants breaks the engine in one place at a time and sees that edict verify
// notices it: wake-ups that are lost, results that are kept too long, writes in another
// order, memory that is forgotten. Each mutant is a build of its own, so this runs only
// with EDICT_TEST_MUTANTS=1 (make verify).
package mutants
