package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

var budgetKind = schema.GVK{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}

// Evict deletes a Pod as the subresource eviction does: as far as its
// PodDisruptionBudget allows it, which then allows one less. The status of a budget is
// what it was given: no controller keeps it.
func (s *Server) Evict(id world.ID, d Deletion) error {
	old := s.storage.objects[id]
	if old == nil {
		return apierrors.NewNotFound(resourceOf(id), id.Name())
	}
	if id.APIVersion() != "v1" || id.Kind() != "Pod" {
		return noSubresource(id, "eviction")
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(old, &pod); err != nil {
		return apierrors.NewInternalError(err)
	}
	if !disrupted(&pod) {
		if err := (disrupting{s}).disrupt(&pod); err != nil {
			return err
		}
	}
	// As in kube-apiserver, an eviction that is refused here has used up a disruption.
	if err := d.meets(id, old); err != nil {
		return err
	}
	garbage{s}.remove(old, metav1.DeletePropagationBackground)
	return nil
}

// disrupting counts the Pods that the budgets let go.
type disrupting struct{ server *Server }

// disrupted reports whether a Pod serves nobody, so that no budget counts it.
func disrupted(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending, "":
		return true
	}
	return pod.DeletionTimestamp != nil
}

// disrupt takes one disruption from the budget of a Pod, if it has one.
func (d disrupting) disrupt(pod *corev1.Pod) error {
	budgets := d.budgets(pod)
	switch {
	case len(budgets) == 0:
		return nil
	case len(budgets) > 1:
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}}
	case !ready(pod) && spares(&budgets[0]):
		return nil
	}
	budget := &budgets[0]
	if err := allows(budget); err != nil {
		return err
	}
	d.count(budget, pod.Name)
	return nil
}

// count writes into the status of a budget that a Pod is disrupted.
func (d disrupting) count(budget *policyv1.PodDisruptionBudget, pod string) {
	id, _ := world.Identify(budgetKind, budget.Namespace, budget.Name)
	old := d.server.storage.objects[id]
	next := copied(old)
	status, _ := next["status"].(Object)
	status["disruptionsAllowed"] = int64(budget.Status.DisruptionsAllowed - 1)
	pods, _ := status["disruptedPods"].(Object)
	if pods == nil {
		pods = Object{}
	}
	pods[pod] = d.server.now.timestamp()
	status["disruptedPods"] = pods
	if budget.Status.DisruptionsAllowed == 1 {
		d.exhaust(budget, status)
	}
	kind := d.server.kindOf(old)
	d.server.store(kind, old, d.server.managers.tracked(kind, fieldsKey{GVK: id.GVK(), subresource: "status"}, old, next, "kube-apiserver"))
}

// exhaust sets the condition of a budget that allows no more disruption.
func (d disrupting) exhaust(budget *policyv1.PodDisruptionBudget, status Object) {
	condition := Object{
		"type": policyv1.DisruptionAllowedCondition, "status": "False", "reason": policyv1.InsufficientPodsReason, "message": "",
		"lastTransitionTime": d.server.now.timestamp(), "observedGeneration": budget.Status.ObservedGeneration,
	}
	list, _ := status["conditions"].([]any)
	at := slices.IndexFunc(list, func(c any) bool { o, _ := c.(Object); return text(o, "type") == policyv1.DisruptionAllowedCondition })
	if at < 0 {
		status["conditions"] = append(list, condition)
		return
	}
	if was, _ := list[at].(Object); text(was, "status") == "False" {
		condition["lastTransitionTime"] = was["lastTransitionTime"]
	}
	list[at] = condition
}

// budgets are those that select a Pod.
func (d disrupting) budgets(pod *corev1.Pod) (out []policyv1.PodDisruptionBudget) {
	for _, o := range d.server.List() {
		var budget policyv1.PodDisruptionBudget
		if id := ID(o); id.GVK() != budgetKind || id.Namespace() != pod.Namespace || runtime.DefaultUnstructuredConverter.FromUnstructured(o, &budget) != nil {
			continue
		}
		if selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector); err == nil && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, budget)
		}
	}
	return out
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// spares reports whether a budget lets Pods go that are not ready.
func spares(budget *policyv1.PodDisruptionBudget) bool {
	policy, status := budget.Spec.UnhealthyPodEvictionPolicy, &budget.Status
	return policy != nil && *policy == policyv1.AlwaysAllow || status.CurrentHealthy >= status.DesiredHealthy && status.DesiredHealthy > 0
}

// allows refuses an eviction that a budget does not allow.
func allows(budget *policyv1.PodDisruptionBudget) error {
	status := &budget.Status
	switch {
	case status.ObservedGeneration < budget.Generation:
		return tooMany(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget.Name))
	case status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(kschema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}, budget.Name, errors.New("pdb disruptions allowed is negative"))
	case status.DisruptionsAllowed == 0:
		return tooMany(0, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", budget.Name, status.DesiredHealthy, status.CurrentHealthy))
	}
	return nil
}

func tooMany(seconds int, cause string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}
