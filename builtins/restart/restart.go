// Package restart knows how workloads are told to roll their Pods, and which
// configuration they use.
package restart

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns restart.annotationName and restart.references.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "restart.annotationName", Args: []expr.Type{expr.String, expr.String}, Result: expr.String,
			Doc:     "the annotation that carries the digest of a ConfigMap, beside the annotation that tells when a workload was restarted",
			Example: `restart.annotationName(params.rolloutAnnotation, key.name)`,
			Needs: func(args []value.Value) expr.Need {
				need := expr.Linear(0)(args)
				need.Text = 256 + value.Size(args[0])
				need.Scratch = 4 * value.Size(args[1])
				return need
			},
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				rollout, _ := value.Str(args[0])
				name, _ := value.Str(args[1])
				return value.OfString(annotationName(rollout, name)), nil
			},
		},
		{
			Name: "restart.references", Args: []expr.Type{expr.Dyn, expr.Dyn}, Result: expr.Bool,
			Doc:     "whether the Pods of a workload use a ConfigMap or Secret: in env, envFrom, a volume or a projected volume, of any container",
			Example: `restart.references(item, object)`,
			Reads:   [][]string{{"metadata.namespace", "spec.template.spec"}, {"kind", "metadata.namespace", "metadata.name"}},
			Needs:   func(args []value.Value) expr.Need { return expr.Need{Work: 1 + expr.Units(value.Deep(args[0]), 50)} },
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				return value.OfBool(references(args[0], args[1])), nil
			},
		},
	}
}

const (
	// longest is the longest name of an annotation after its prefix.
	longest = 63
	// kept is how much of a longer name stays, before a digest of it.
	kept   = 40
	digits = 10
	digest = "config-hash-"
)

var unfit = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// annotationName makes a name of its own for every ConfigMap, under the prefix
// of the annotation that tells when.
func annotationName(rollout, name string) string {
	prefix, _, prefixed := strings.Cut(rollout, "/")
	fit := cmp.Or(strings.Trim(unfit.ReplaceAllString(name, "-"), "-."), "configmap")
	if len(digest)+len(fit) > longest {
		sum := sha256.Sum256([]byte(name))
		fit = strings.TrimRight(fit[:kept], "-.") + "-" + hex.EncodeToString(sum[:])[:digits]
	}
	if !prefixed {
		return digest + fit
	}
	return prefix + "/" + digest + fit
}

// source is where a field of a Pod names a ConfigMap, or a Secret.
type source struct {
	env, envFrom, volume, projected string
	// named is the field with the name in a volume.
	named string
}

var sources = map[string]source{
	"ConfigMap": {env: "configMapKeyRef", envFrom: "configMapRef", volume: "configMap", projected: "configMap", named: "name"},
	"Secret":    {env: "secretKeyRef", envFrom: "secretRef", volume: "secret", projected: "secret", named: "secretName"},
}

// references reports whether the Pod template of a workload names an object.
func references(workload, object value.Value) bool {
	in, known := sources[value.StringAt(object, "kind")]
	if !known || value.StringAt(workload, "metadata", "namespace") != value.StringAt(object, "metadata", "namespace") {
		return false
	}
	name := value.StringAt(object, "metadata", "name")
	pod := value.Path(workload, "spec", "template", "spec")
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range items(pod, list) {
			if in.inContainer(c, name) {
				return true
			}
		}
	}
	return slices.ContainsFunc(items(pod, "volumes"), func(v value.Value) bool { return in.inVolume(v, name) })
}

func (in source) inContainer(c value.Value, name string) bool {
	for _, e := range items(c, "env") {
		if value.StringAt(e, "valueFrom", in.env, "name") == name {
			return true
		}
	}
	return slices.ContainsFunc(items(c, "envFrom"), func(e value.Value) bool { return value.StringAt(e, in.envFrom, "name") == name })
}

func (in source) inVolume(v value.Value, name string) bool {
	return value.StringAt(v, in.volume, in.named) == name || slices.ContainsFunc(items(value.Path(v, "projected"), "sources"), func(s value.Value) bool { return value.StringAt(s, in.projected, "name") == name })
}

func items(v value.Value, field string) []value.Value {
	list, ok := value.Path(v, field).(*value.List)
	if !ok {
		return nil
	}
	return list.Items()
}
