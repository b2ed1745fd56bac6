// Package observe holds the engine's metrics and the keys of its log lines.
// Labels come from closed sets only: the policy, the rule, the result, the
// kind; never the name of an object.
package observe

import "github.com/prometheus/client_golang/prometheus"

// The keys of log lines.
const (
	LogPolicy   = "policy"
	LogRevision = "revision"
	LogKey      = "key"
	LogRule     = "rule"
)

// The engine's metrics.
var (
	Evaluations = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_evaluations_total", Help: "Evaluations of a policy for a key."}, []string{"policy"})
	EvaluationSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "edict_evaluation_seconds", Help: "Time that an evaluation took.",
		Buckets: []float64{.00002, .0001, .0005, .002, .01, .05, .2, 1}}, []string{"policy"})
	Effects = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_effects_total", Help: "Effects by what became of them: written, conflict, gone, failed, skipped."}, []string{"policy", "result"})
	Errors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_errors_total", Help: "Reconciliations that ended in an error."}, []string{"policy"})
	Waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "edict_policy_waiting", Help: "1 while a policy waits for a kind that the cluster does not serve."}, []string{"policy"})
	QueueDepth = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "edict_queue_depth", Help: "Keys that wait to be reconciled."}, []string{"policy"})
	Remembered = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "edict_remembered_values", Help: "Values that the keys of a policy remember."}, []string{"policy"})
	Debounced = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_debounced_total", Help: "Rules that were put off by their debounce."}, []string{"policy"})
	Retries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_debounce_retries_total", Help: "Debounced rules that failed and will be tried again."}, []string{"policy"})
	Dropped = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_debounce_dropped_total", Help: "Debounced rules that were still waiting when the controller stopped."}, []string{"policy"})
	Leader = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edict_leader", Help: "1 while this process leads."})
	LeaderTransitions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "edict_leader_transitions_total", Help: "Times that this process took the lead (acquired) and lost it (lost)."}, []string{"transition"})
	LeaderAcquire = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "edict_leader_acquire_seconds", Help: "Time that this process waited for the lead.",
		Buckets: []float64{.5, 1, 2, 5, 10, 20, 30, 60}})
	WatchErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "edict_watch_errors_total", Help: "Watches that ended in an error."})
	Reconnects = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "edict_watch_reconnects_total", Help: "Watches that were opened again."})
	Info = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "edict_policy_info", Help: "1 for the revision of each policy in force."}, []string{"policy", "revision"})
)

// Register adds the metrics to a registry.
func Register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{Evaluations, EvaluationSeconds, Effects, Errors, Waiting, QueueDepth, Remembered, Debounced, Retries, Dropped, Leader, LeaderTransitions, LeaderAcquire, WatchErrors, Reconnects, Info} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
