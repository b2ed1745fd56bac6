package apply

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// ScaleSubresource is the subresource whose object is a number of replicas.
const ScaleSubresource = "scale"

// scale patches the subresource scale, as the object was decided on. An answer is a
// Scale, which has no generation: that of the object grows by one.
func (r *applyRun) scale(e *eval.Effect) error {
	version, ok := r.versions[e.Target]
	if !ok {
		version, _ = r.applier.Version(e.Target)
	}
	body := value.FromMap(map[string]value.Value{"spec": value.FromMap(map[string]value.Value{"replicas": value.OfInt(e.Replicas)})})
	next, err := r.applier.Writer.Patch(r.ctx, Patch{
		Target: e.Target, Subresource: ScaleSubresource, Body: body, ResourceVersion: version.ResourceVersion, Policy: r.applier.Policy,
	})
	if err != nil {
		return err
	}
	if next.Generation == 0 && version.Generation > 0 && next.ResourceVersion != version.ResourceVersion {
		next.Generation = version.Generation + 1
	}
	r.versions[e.Target] = next
	return nil
}

// unserved is the error of a request for a subresource that the API server does not have,
// which is not that the object is gone; any other error as it is.
func unserved(e *eval.Effect, err error) error {
	name := e.Subresource
	if e.Verb == eval.VerbScale {
		name = ScaleSubresource
	}
	if name == "" || !apierrors.IsNotFound(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return err
	}
	return fmt.Errorf("the API server has no subresource %s of %s: %s", name, e.Target.Kind(), err.Error())
}

// evict evicts the target of an effect, as it was decided on.
func (r *applyRun) evict(e *eval.Effect) error {
	version, uid := r.applier.Version(e.Target)
	if known, ok := r.versions[e.Target]; ok {
		version = known
	}
	return r.applier.Writer.Evict(r.ctx, Deletion{Target: e.Target, UID: uid, ResourceVersion: version.ResourceVersion, GracePeriod: e.GracePeriod, Policy: r.applier.Policy})
}

// reasonRefused is the reason of the Event about a refused eviction.
const reasonRefused = "EvictionRefused"

// tellRefused emits an Event about a refused eviction, once. It is not part of the
// decision: one that cannot be emitted is no failure.
func (r *applyRun) tellRefused(e *eval.Effect, why string) {
	_, uid := r.applier.Version(e.Target)
	event := Event{Target: e.Target, UID: uid, Policy: r.applier.Policy, Type: "Normal", Reason: reasonRefused, Message: why}
	if !r.applier.Seen(event) {
		_ = r.applier.Writer.Event(r.ctx, event)
	}
}

// refusal is the text of a refusal, with the PodDisruptionBudget that is its cause.
func refusal(err error) string {
	text := err.Error()
	if status, ok := err.(apierrors.APIStatus); ok && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			text = strings.TrimSuffix(text, ".") + ": " + cause.Message
		}
	}
	return text
}
