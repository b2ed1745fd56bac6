// Package engine holds no code: it describes how the packages below it work
// together. Names in parentheses are functions of the file before them.
//
// # From an event to a patch
//
//  1. engine/run/informers/set.go (Open) keeps one informer for each source that some
//     policy reads. engine/run/informers/decoder.go (Decode) makes an object of what
//     the API server sends, with the fields that are read: engine/readmodel/decode.go
//     (Decode) and engine/value/decode.go (Decode) make an immutable value of the JSON,
//     which engine/scan reads.
//  2. engine/reconcile/feed.go (PutObject, Delete) stores the object in the
//     read model, engine/world/store.go (Put). An event that changes no field
//     that is kept ends here.
//  3. engine/reconcile/inbox.go (tell, route) queues the change for each policy.
//     engine/watch/router.go (Change) and engine/watch/inputs.go (joined, shared)
//     return the keys whose decision the change may change.
//  4. engine/run/informers/queues.go (Wake) adds the keys to the work queue of the policy,
//     and a worker takes them from it: engine/run/controller/worker.go (work,
//     reconcile).
//  5. engine/reconcile/reconciliation.go (reconcile) takes a snapshot of the read
//     model. engine/reconcile/pending.go (waits) delays the key while the
//     snapshot lacks a write of the key itself.
//  6. engine/record/record.go (Begin) keeps what the decision depends on: the
//     snapshot, the time and the params.
//  7. engine/eval/evaluate.go (Evaluate) runs the rules, engine/eval/rules.go
//     (rules), and their actions, engine/eval/actions.go (act). engine/eval/still.go
//     (still) reuses results whose inputs have not changed. Candidates are chosen
//     by engine/eval/selection/selection.go. Expressions run in
//     engine/expr/cel/program.go (Eval), most of them without an interpreter in
//     engine/expr/direct/program.go (Eval) and engine/expr/direct/rows.go (Rows), Rego
//     queries in engine/expr/rego/eval.go (Eval); engine/expr/meter.go (Charge, Step)
//     stops what costs too much. The result is a Decision: engine/eval/decision.go.
//  8. engine/guard/guard.go (Judge) drops the effects that need an allowance which
//     the policy does not have.
//  9. engine/brake/admit.go (Admit) holds back the effects that exceed a limit,
//     loop, compete with another writer, or are on hold.
//  10. engine/apply/apply.go (Apply) sends the other effects in order, each with
//     the resourceVersion that was read. engine/run/writer/writer.go (Patch, Make, Evict,
//     Delete, Event) makes the request, after engine/run/writer/pace.go (wait) and
//     as the policy's ServiceAccount: engine/identity/identity.go (User).
//  11. engine/reconcile/reconciliation.go (settle) ends the reconciliation:
//     engine/reconcile/pendingwrites.go (pendingOf) notes the versions that were written,
//     engine/reconcile/failures.go (sumUp) sums up the errors,
//     engine/reconcile/debouncer.go (update) notes what is debounced, and
//     engine/reconcile/reconciliation.go (record) completes the record.
//  12. engine/run/controller/worker.go (complete) reports the result, and adds the key
//     again for a later time or with back-off. The event of the patch arrives at step 1.
//
// # From a text to a program
//
//  1. engine/source/folder.go (read) reads files, engine/source/contents.go (Read)
//     the ConfigMap of a PolicySet, engine/source/set.go (ModeOf, params). Both make a Unit of each policy with its Rego and its params:
//     engine/source/unit.go.
//  2. engine/document/parse.go (Parse) parses YAML into nodes with positions.
//     engine/load/load.go (Documents) and engine/load/decode.go (decode) decode them
//     strictly into the types of engine/api/v1alpha1/policy.go. A document for several
//     kinds becomes a policy for each: engine/load/kinds.go (eachKind).
//     engine/source/findings.go (Add, List) puts together what is found in them.
//  3. engine/source/compiler.go (Compile) keeps what it has compiled, and calls engine/compile/compile.go (Policy).
//     engine/compile/unions.go (withUnions) makes an input of several kinds one input
//     for each kind, with a variable that has the objects of all.
//     engine/children/expand.go (Expand) derives inputs, variables and rules from the
//     children of a policy, as an author would write them.
//     engine/compile/sections.go (sections, compile) compiles params, primary object,
//     variables, inputs, rules with their actions, limits and metrics in this order:
//     engine/compile/params.go, engine/compile/primary.go, engine/compile/order.go,
//     engine/compile/inputs.go, engine/compile/rules.go, engine/compile/actions.go,
//     engine/compile/limits.go and engine/compile/metrics.go. Each returns its part of
//     the plan with its node of the graph. engine/compile/expressions.go (trace)
//     records in the node of the scope, engine/compile/scope.go, what an expression
//     depends on.
//  4. engine/expr/cel/compile.go (Compile) parses an expression and checks its types
//     by the schemas in engine/schema/set.go; engine/expr/cel/limits.go (Validate)
//     rejects what could cost too much. Rego is compiled by
//     engine/expr/rego/library.go through an Evaluator: in this process,
//     engine/expr/rego/evaluator.go (Local), or in a child process,
//     engine/expr/rego/remote.go (Do) and engine/child/child.go (Do).
//  5. engine/analyze/trace.go (Trace) returns which fields an expression reads.
//     engine/analyze/join.go (JoinOf) returns how an index answers a where,
//     engine/analyze/stage.go (StageOf) which part of an expression depends on one
//     candidate alone, engine/analyze/formof.go (FormOf) which keys it takes from mappings
//     that never have them.
//  6. engine/compile/seal.go (gather, seal) derives from the graph of the policy,
//     engine/analyze/graph.go, what is watched, indexed, kept and written, and the
//     hashes of its parts.
//  7. The result is the plan: engine/plan/policy.go. engine/plan/access.go (Accesses)
//     derives the permissions that it needs, engine/rbac/rule.go (Rules) the rules of
//     a role, and engine/guard/lack.go (Lacks) the allowances that it lacks.
//
// # From an edit to its taking over
//
//  1. The webhook compiles a ConfigMap or a PolicySet before it is stored:
//     engine/run/webhook/admission.go (Handle) and engine/run/check/checker.go (Text). It
//     rejects errors that are new. Its certificates come from
//     engine/run/certs/certifier.go.
//  2. engine/run/policies/reconciler.go (SetupWithManager, Reconcile) watches the PolicySets
//     and their ConfigMaps. engine/history/choice.go (Choose) returns the text that a set
//     runs, and all sets are one catalog: engine/source/catalog.go (NewCatalog).
//  3. engine/run/check/checker.go (All, Text) compiles each policy whose text, params or
//     mode have changed, by the types of engine/run/discovery/kinds.go (Schemas).
//     engine/run/check/testrun.go (Next) runs the tests beside it, with
//     engine/policytest/runner.go and engine/simulate/simulation.go. The state of each
//     policy is in engine/run/lifecycle/registry.go (Check) and
//     engine/run/lifecycle/assigning.go (Assign, Report), and changes
//     by the table in engine/run/lifecycle/transitions.go (next).
//  4. engine/run/policies/assign.go (assign, wanted) gives the revision to the
//     controller of the policy; while the text is rejected, the last good revision,
//     which the history has: engine/run/policies/assign.go (lastGood).
//  5. engine/run/controller/prepare.go (prepare) waits for the kinds, namespaces and
//     permissions, engine/run/requirements/requirements.go (Unmet), and compiles the
//     policy by the types of the cluster, unless step 3 did (retype).
//  6. engine/run/controller/prepare.go (activate) opens the sources,
//     engine/run/informers/set.go (Join, Open), and finds the keys,
//     engine/reconcile/feed.go (Replay).
//  7. engine/run/controller/fallback.go (tryOut) calls engine/reconcile/trial.go
//     (TryOut), which evaluates some keys without writing and rejects a revision that
//     fails where the current one does not.
//  8. engine/run/controller/controller.go (swap) calls engine/reconcile/adopt.go (Adopt):
//     the new revision takes over memory and debounced runs between two decisions. The
//     keys whose decision may differ, engine/reconcile/takeover.go (differs), are added
//     to the work queue.
//     With spec.rollout, engine/rollout/parse.go (New),
//     engine/run/controller/rollout.go (stage, promote, dropOther) lets both revisions
//     run: engine/reconcile/rollout.go (NewRollout, Take) says who decides about a key,
//     engine/reconcile/compare.go (compare) how they differ, and
//     engine/run/policies/rollouts.go (check) when the next step begins.
//  9. engine/run/policies/texts.go (keep) writes the history, engine/history/text.go (New),
//     as ControllerRevisions. engine/run/policies/conditions.go (conditions) and
//     engine/run/policies/status.go (status, writeStatus) write the status of the PolicySet,
//     and engine/run/events/events.go (Add) records Events.
//
// # Other packages
//
// engine/simulate runs the same packages on manifests, with engine/apiserver in
// place of a cluster, which validates custom objects by engine/schema/validation, and a
// virtual clock; engine/policytest compares the result
// with what a test expects, and engine/coverage counts what the decisions of a test use
// of its policies; engine/mutation changes policies and runs their tests.
// engine/release removes the finalizers of policies.
// engine/run/run.go (Run) is the process, with leader election and endpoints.
// engine/run/brakes applies the holds of PolicySets, and engine/run/metrics has
// the metrics that policies define; engine/run/tracing exports traces. engine/observe
// holds the metrics, engine/selector parses label selectors, engine/week times of the
// week, and engine/status cuts texts to what the API server takes.
//
// For people: engine/check (Findings of engine/check/check.go) finds what is wrong
// with policies that compile, engine/graph (Of of engine/graph/graph.go) which rule wakes
// which policy; engine/snapshot reduces objects to what policies read, engine/cluster
// reads those of a live cluster for commands, engine/compare says what an edit
// changes, engine/explain why a decision came out as it did, engine/live the same for
// a running controller, engine/probe evaluates an expression as part of a policy,
// engine/explore serves a page about decisions, engine/capture writes a decision down as a test,
// engine/verify explores what becomes of small worlds, engine/scaffold makes a
// policy of a recipe, and engine/lsp serves editors over engine/lsp/rpc with the texts of
// engine/lsp/fielddoc.
//
// Packages import packages of lower layers only; layers_test.go holds the table.
package engine
