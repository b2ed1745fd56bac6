// Package fault runs the controller on a real control plane while something
// breaks, under steady traffic, and judges the history afterwards.
//
// A case starts a control plane with an audit log, a proxy in front of the API
// server for each controller, one or two controllers as processes of their own,
// and seeded traffic with a minimum rate. It injects its fault, lets it end, and
// waits until the world is as the policies say: computed afresh by a simulation of
// the final objects, there is nothing left to write. Then it judges the audit log.
// A run whose traffic was below its rate, or in which the fault did not happen, is
// void and fails. EDICT_TEST_FAULT=1 (make test-fault) runs them; the figures go to
// docs/reliability.md.
package fault
