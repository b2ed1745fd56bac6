package policies

import (
	"log/slog"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// configMapErrors reports errors of ConfigMaps that concern no policy known by name: text
// that is not YAML, or a policy that another ConfigMap defines.
type configMapErrors struct {
	log *slog.Logger
	// logged is what was last logged, by ConfigMap.
	logged map[string]string
	gauges observe.Gauges
}

func newConfigMapErrors(log *slog.Logger) *configMapErrors {
	return &configMapErrors{log: log, logged: map[string]string{}}
}

// report sets the metric, and logs what has changed.
func (e *configMapErrors) report(reports []statusReport) {
	before, values := e.logged, map[observe.Series]float64{}
	e.logged = map[string]string{}
	for i := range reports {
		if one := &reports[i]; len(one.own) > 0 {
			values[observe.SeriesOf(observe.ConfigMapErrors, one.configMap.Name)] = float64(len(one.own))
			e.note(one.configMap, one.own, before)
		}
	}
	e.gauges.Set(values)
	for name := range before {
		if e.logged[name] == "" {
			e.log.Info("the ConfigMap has no errors of its own any more", "configmap", name)
		}
	}
}

// note logs the errors of a ConfigMap, unless they are those that were logged before.
func (e *configMapErrors) note(m *source.ConfigMap, own []document.Problem, before map[string]string) {
	text := configmap.ProblemText(m, own, document.Error)
	e.logged[m.Name] = text
	if before[m.Name] != text {
		e.log.Error("the ConfigMap has errors", "configmap", m.Name, "error", text)
	}
}

// errorsAmong returns the errors among problems.
func errorsAmong(problems []document.Problem) (out []document.Problem) {
	for _, p := range problems {
		if p.Severity == document.Error {
			out = append(out, p)
		}
	}
	return out
}
