// Package observe holds the engine's metrics and the keys of its log lines.
// Labels come from closed sets only: the policy, its revision, the ConfigMap it
// is in, the result, the kind; never the name of another object.
package observe

import "github.com/prometheus/client_golang/prometheus"

// The keys of log lines.
const (
	LogPolicy   = "policy"
	LogRevision = "revision"
	LogKey      = "key"
	LogRule     = "rule"
	// LogReconcile is the ID of a reconciliation, by the name that controller-runtime
	// gives it.
	LogReconcile = "reconcileID"
)

// LeftOut is the message of the line that counts the writes without one.
const LeftOut = "wrote more than is logged one by one"

// The labels of a policy's metrics: WithLabelValues takes its ID for the first two.
var (
	byPolicy   = []string{labelSet, labelPolicy}
	byRevision = []string{labelSet, labelPolicy, "revision"}
)

// The buckets of histograms, in seconds.
var (
	evaluationBuckets = []float64{.00002, .0001, .0005, .002, .01, .05, .2, 1}
	writeBuckets      = []float64{.002, .005, .01, .025, .05, .1, .25, 1, 5, 30}
)

// The engine's metrics.
var (
	Evaluations = counter(byRevision, "edict_evaluations_total", "Evaluations of a policy for a key.")

	EvaluationSeconds = histogram(prometheus.HistogramOpts{
		Name: "edict_evaluation_seconds", Help: "Time that an evaluation took.", Buckets: evaluationBuckets}, byRevision)
	WriteSeconds = histogram(prometheus.HistogramOpts{
		Name: "edict_write_seconds", Help: "Time that a write of a policy took, with the wait for the policy's share of the writes.", Buckets: writeBuckets}, byRevision)

	// RuleEvaluations has no series of a rule that an evaluation did not reach.
	RuleEvaluations = counter([]string{labelSet, labelPolicy, "revision", "rule", "outcome"}, "edict_rule_evaluations_total", "Evaluations of a rule by outcome: fired, skipped, delayed, failed.")

	Effects = counter([]string{labelSet, labelPolicy, "revision", "result"}, "edict_effects_total", "Effects by what became of them: written, conflict, gone, refused, failed, skipped, held.")

	Errors   = counter(byRevision, "edict_errors_total", "Reconciliations in which a write or a call failed; they are tried again.")
	Terminal = counter(byRevision, "edict_terminal_errors_total", "Reconciliations that failed because of an expression, a limit or the guard; they are tried again when something that was read changes.")

	Waiting = gauge(byPolicy, "edict_policy_waiting", "1 while a policy waits for a kind that the cluster does not serve, or for a permission.")
	Failed  = gauge(byPolicy, "edict_policy_failed", "1 while the newest text of a policy is refused. What was last found good runs, if there is anything.")
	Ended   = gauge(byPolicy, "edict_policy_stopped", "1 while a policy that was in force does not run, though it was not disabled: its set was deleted, or its ConfigMap lost the policy.")
	// Ready has a series of each PolicySet, with the reason of its condition.
	Ready = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "edict_policyset_ready", Help: "1 if the condition Ready of a PolicySet is True, by reason."}, []string{labelSet, "reason"})

	Failing    = gauge(byPolicy, "edict_policy_failing_objects", "Objects for which the last decision of a policy, or a write of it, failed.")
	Unselected = gauge(byPolicy, "edict_policy_unselected_objects", "Objects for which a call left no candidate; it is made again every minute.")
	Stopped    = gauge(byPolicy, "edict_policy_writes_stopped", "1 while a policy writes nothing because a permission is missing.")
	Paused     = gauge([]string{labelSet, labelPolicy, "reason"}, "edict_policy_paused", "1 while a policy is paused by the brakes: edict resume lets it go on.")
	KeptBack   = gauge([]string{labelSet, labelPolicy, "reason"}, "edict_kept_back_objects", "Objects of which the brakes keep a write of a policy back.")
	Paced      = gauge(byPolicy, "edict_policy_paced_objects", "Objects about which a policy has written as often as its pace allows for ten minutes.")
	Holds      = gauge(byPolicy, "edict_policy_holds", "Holds that people have put on a policy.")
	QueueDepth = gauge(byPolicy, "edict_queue_depth", "Keys that wait to be reconciled.")
	Remembered = gauge(byPolicy, "edict_remembered_values", "Values that the keys of a policy remember.")
	Retained   = gauge(byPolicy, "edict_retained_bytes", "Bytes of values that a policy keeps between evaluations: what its keys remember, what need not be computed again, and what is debounced.")
	KeptBytes  = prometheus.NewGauge(prometheus.GaugeOpts{Name: "edict_policies_kept_bytes", Help: "Bytes that the compiled policies keep, as they are counted."})
	Info       = gauge(byRevision, "edict_policy_info", "1 for the revision of each policy in force.")

	// DroppedSeries counts what went to the series of too many.
	DroppedSeries = counter([]string{labelSet, labelPolicy, "metric"}, "edict_metric_overflow_total", "Counts of a policy's metric that went to its series \"(too many)\", because it has as many series as it may have.")

	Debounced = counter(byRevision, "edict_debounced_total", "Rules that were put off by their debounce.")
	Retries   = counter(byRevision, "edict_debounce_retries_total", "Debounced rules that failed and will be tried again.")
	Dropped   = counter(byRevision, "edict_debounce_dropped_total", "Debounced rules that were still waiting when the controller stopped.")

	Reloads = counter([]string{labelSet, labelPolicy, "result"}, "edict_policy_reloads_total", "New texts of a policy: adopted, refused, stopped.")

	Reevaluated = counter(byPolicy, "edict_reevaluated_keys_total", "Keys that were decided anew because the policy's text or params had changed.")

	Disagreements = counter(byRevision, "edict_shadow_disagreements_total", "Evaluations in which a policy in the shadow decided otherwise than what is enforced.")
	Disagreeing   = gauge(byRevision, "edict_shadow_disagreeing_keys", "Keys for which a policy in the shadow last decided otherwise than what is enforced.")
	Undetermined  = counter(byRevision, "edict_shadow_undetermined_total", "Evaluations in the shadow that needed an answer which only a request with side effects gives.")

	Leader = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edict_leader", Help: "1 while this process leads."})
	LeaderTransitions = plain([]string{"transition"}, "edict_leader_transitions_total", "Times that this process took the lead (acquired) and lost it (lost).")
	LeaderAcquire     = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "edict_leader_acquire_seconds", Help: "Time that this process waited for the lead.",
		Buckets: []float64{.5, 1, 2, 5, 10, 20, 30, 60}})
	WatchErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "edict_watch_errors_total", Help: "Watches that ended in an error."})
	BrokenWatches = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edict_failing_watches", Help: "Watches that cannot be opened now: what policies know of these objects is not up to date."})
	Reconnects = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "edict_watch_reconnects_total", Help: "Watches that were opened again."})
	RegoRunning = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edict_rego_process_running", Help: "1 while a process that evaluates Rego runs. It is started by the first request."})
	RegoStarts = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "edict_rego_process_starts_total", Help: "Starts of the process that evaluates Rego."})
	RegoEnds    = plain([]string{"reason"}, "edict_rego_process_ends_total", "Ends of the process that evaluates Rego, by reason: memory, time, died, stopped.")
	RegoRefused = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "edict_rego_refused_total", Help: "Rego queries that failed at once, because they, or others of their modules, were ended by their time or memory."})

	WebhookServing = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edict_webhook_serving", Help: "1 while the webhook answers in this process."})
	Reviews = plain([]string{"result"}, "edict_admission_reviews_total", "ConfigMaps that the webhook was asked about: allowed, refused, passed (it could not tell).")
)

func plain(labels []string, name, help string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// ofPolicies are the metrics whose first label is a policy.
func ofPolicies() []partial {
	return []partial{Evaluations, EvaluationSeconds, WriteSeconds, RuleEvaluations, Effects, Errors, Terminal, Waiting, Failed, Ended, Failing, Unselected, Stopped, Paused, KeptBack, Paced, Holds, QueueDepth, Remembered, Retained, Info, Debounced, Retries, Dropped, DroppedSeries,
		Reloads, Reevaluated, Disagreements, Disagreeing, Undetermined}
}

// partial is a metric of which some series can be dropped.
type partial interface {
	prometheus.Collector
	DeletePartialMatch(labels prometheus.Labels) int
}

// Register adds the metrics to a registry.
func Register(r prometheus.Registerer) error {
	all := []prometheus.Collector{Leader, LeaderTransitions, LeaderAcquire, WatchErrors, BrokenWatches, Reconnects, WebhookServing, Reviews, RegoRunning, RegoStarts, RegoEnds, RegoRefused, Ready, KeptBytes}
	for _, m := range ofPolicies() {
		all = append(all, m)
	}
	for _, c := range all {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
