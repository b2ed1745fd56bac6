// Package schedules runs controllers through random schedules of faults, in memory
// and on a virtual clock.
//
// A seed gives a world, changes by others, and a schedule: which key is reconciled
// when, which event comes late, which write fails before or after it was made,
// when the process is killed, and so on (step_test.go). The controllers are those
// of engine/reconcile, the API server that of engine/apiserver; what lies between
// them, feeds and writes, is made here and breaks as the schedule says. In the end
// all faults are mended, all events are delivered, and the outcome is judged
// (judge_test.go). A schedule that fails is made as short as it can be and printed;
// EDICT_SEED=n runs that of one seed, EDICT_SCHEDULES=n that many.
package schedules
