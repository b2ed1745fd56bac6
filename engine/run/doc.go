// Package run is the controller process: it watches a cluster, reconciles with
// workers and a queue, and serves metrics, probes and the webhook. Few other
// packages speak to a cluster, and none writes what policies decide.
//
// What stays while leadership comes and goes is the process ([Run], run.go):
// clients, endpoints, the ConfigMaps as they are now (shelf.go) and the webhook
// that judges them before they are stored (webhook.go, admission.go,
// foresee.go; its certificates are made by package certs), and what compiles and
// evaluates Rego, in a process of its own (rego.go). What is decided is sent by
// package writer. What runs while this process leads is a term (term.go), which
// begins with new lists each time.
//
// In a term every policy has a runner (runner.go). It waits for the policy's
// kinds and permissions (schemas.go, permissions.go), has what the policy reads
// watched (feeds.go), and lets workers reconcile (worker.go). Another revision
// takes over between two decisions (swap.go); until it can, the one before goes
// on, or after a restart the last good one (fallback.go). What fails meanwhile is
// noted (health.go, watchfaults.go), and without a permission nothing is written
// (blocked.go). The brakes of engine/brake bound what policies write (brakes.go,
// braked.go) and keep pauses and holds in the cluster (ledger.go). Objects that
// are missing in a new list
// are looked for in a second one (losses.go), and nothing is removed while what is
// read may be out of date (doubts.go).
//
//	ConfigMaps ──▶ library ──▶ judge ──▶ runner ──▶ worker ──▶ writer
//	    ▲             │                     ▲          │
//	    └── notices ◀─┴── revisions         └─ feeds ◀─┘
//
// The library (library.go) follows the ConfigMaps: it lets the judge (judge.go)
// compile what has changed, has it tested (trials.go), hands it to the runners,
// keeps their history (revisions.go) and writes into the ConfigMaps what became
// of them (notes.go, notices.go, events.go, stopped.go, shadow.go). Policies from files go to the
// runners directly.
package run
