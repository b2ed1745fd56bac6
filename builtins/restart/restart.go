// Package restart knows how workloads are rolled.
package restart

import "github.com/edict-dev/edict/engine/expr"

// Functions gives restart.annotationName and restart.references, which this
// build declares only.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "restart.annotationName", Args: []expr.Type{expr.String, expr.String}, Result: expr.String,
			Doc: "the annotation that carries a config's hash", Example: `restart.annotationName(params.rolloutAnnotation, key.name)`,
		},
		{
			Name: "restart.references", Args: []expr.Type{expr.Dyn, expr.Dyn}, Result: expr.Bool,
			Doc: "whether a workload uses a ConfigMap or Secret", Example: `restart.references(item, object)`,
		},
	}
}
