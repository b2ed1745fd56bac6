// Package run is the controller process: clients, leader election, and the endpoints
// for metrics and probes. The packages below it do the work.
//
// Whether it leads or not, the process ([Run], run.go) has clients, endpoints (serve.go,
// metrics.go), the ConfigMaps (package configmap), the webhook that checks them before they
// are stored (package webhook, with certificates of package certs), and the child process that
// compiles and evaluates Rego (rego.go). controller-runtime's manager runs these and
// the leader election (election.go has its lock); while the process leads, a term (term.go)
// runs the policies. A process that loses the lead ends.
//
//	ConfigMaps ──▶ policies.Manager ──▶ controller.Runtime ──▶ writer.Writer
//	    ▲            │    │                   ▲
//	    └── status ◀─┘    └─▶ check.Checker   └── informers.Set
//
// The packages, from the top:
//
//   - policies follows the ConfigMaps. It has changed texts checked and tested, assigns
//     revisions to controllers, and writes the history and the status.
//   - controller has one controller and work queue per policy. A revision takes over
//     between two decisions; until it can, the one before goes on.
//   - webhook rejects ConfigMaps with new errors.
//   - check compiles policies and runs the tests beside them; requirements checks kinds,
//     namespaces and permissions; informers keeps the read model, and reports what may be
//     out of date.
//   - lifecycle has the state of every policy: one phase, one table of transitions.
//   - configmap reads ConfigMaps, discovery returns which kinds a cluster serves, brakes
//     stores pauses and holds, metrics has the metrics that policies define, events
//     records Events, writer sends requests, certs makes certificates.
//
// Policies of files are given to the controllers directly. Nothing imports upwards: what
// a lower package reports, it reports by a function in its options.
package run
