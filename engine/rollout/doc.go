// Package rollout knows how a new revision of a policy comes into force in steps:
// how the steps are written in an annotation of its ConfigMap, which keys a step has,
// and how it is written down how far a rollout has come. It runs nothing.
package rollout
