package byhand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

const (
	kindNode  = "Node"
	kindPod   = "Pod"
	kindGroup = "LVMVolumeGroup"

	agentNamespace = "d8-sds-replicated-volume"
)

// unschedulableAnnotations take a volume group out of scheduling.
var unschedulableAnnotations = []string{
	"storage.deckhouse.io/lvmVolumeGroupUnschedulable", "sds-replicated-volume.deckhouse.io/unschedulable",
}

// Eligibility calculates the nodes of storage pools.
type Eligibility struct {
	Cache   *Cache
	Patcher Patcher
	Now     func() time.Time
}

// Reconcile calculates the nodes of a pool.
func (e *Eligibility) Reconcile(_ context.Context, name string) error {
	pool, err := get[StoragePool](e.Cache, kindPool, name)
	if err != nil || pool == nil {
		return err
	}
	before := pool.DeepCopyObject().(*StoragePool)
	if !e.Cache.Copies { // it is changed below
		pool = pool.DeepCopyObject().(*StoragePool)
	}
	pool.Status.Phase, pool.Status.Reason = "", ""
	changed := pool.Status.Phase != before.Status.Phase || pool.Status.Reason != before.Status.Reason
	if e.calculate(pool) || changed {
		return e.Patcher.Patch(kindPool, "status", before, pool)
	}
	return nil
}

// calculate sets the status of a pool, and reports whether it has changed.
func (e *Eligibility) calculate(pool *StoragePool) bool {
	groups := e.groups(pool)
	if missing := missingGroups(pool, groups); len(missing) > 0 {
		return e.ready(pool, metav1.ConditionFalse, "LVMVolumeGroupNotFound", "Some LVMVolumeGroups not found: "+strings.Join(missing, "\n"))
	}
	if err := thinPools(pool, groups); err != nil {
		return e.ready(pool, metav1.ConditionFalse, "InvalidLVMVolumeGroup", "RSP/LVG validation failed: "+err.Error())
	}
	selector, err := nodeSelector(pool)
	if err != nil {
		return e.ready(pool, metav1.ConditionFalse, "InvalidNodeLabelSelector", err.Error())
	}
	nodes := e.eligible(pool, selector, groups)
	changed := !slices.EqualFunc(nodes, pool.Status.EligibleNodes, sameNode)
	if changed {
		pool.Status.EligibleNodes = nodes
		pool.Status.EligibleNodesRevision++
	}
	return e.ready(pool, metav1.ConditionTrue, "Ready", fmt.Sprintf("Eligible nodes calculated successfully: %d nodes", len(nodes))) || changed
}

// ready sets the condition of a pool, and reports whether it has changed.
func (e *Eligibility) ready(pool *StoragePool, status metav1.ConditionStatus, reason, message string) bool {
	c := metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message, ObservedGeneration: pool.Generation}
	if old := meta.FindStatusCondition(pool.Status.Conditions, "Ready"); old == nil || old.Status != status {
		c.LastTransitionTime = metav1.NewTime(e.Now())
	}
	return meta.SetStatusCondition(&pool.Status.Conditions, c)
}

// groups returns the volume groups that a pool refers to, by name.
func (e *Eligibility) groups(pool *StoragePool) map[string]*VolumeGroup {
	wanted := make(map[string]bool, len(pool.Spec.VolumeGroups))
	for i := range pool.Spec.VolumeGroups {
		wanted[pool.Spec.VolumeGroups[i].Name] = true
	}
	out := make(map[string]*VolumeGroup, len(wanted))
	for _, g := range list[*VolumeGroup](e.Cache, kindGroup) {
		if wanted[g.Name] {
			out[g.Name] = g
		}
	}
	return out
}

func missingGroups(pool *StoragePool, groups map[string]*VolumeGroup) (out []string) {
	for _, ref := range pool.Spec.VolumeGroups {
		if groups[ref.Name] == nil {
			out = append(out, fmt.Sprintf("LVMVolumeGroup %q not found", ref.Name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func thinPools(pool *StoragePool, groups map[string]*VolumeGroup) error {
	if pool.Spec.Type != "LVMThin" {
		return nil
	}
	for _, ref := range pool.Spec.VolumeGroups {
		if ref.ThinPoolName == "" {
			return fmt.Errorf("LVMVolumeGroup %q: thinPoolName is required for LVMThin type", ref.Name)
		}
		if !slices.ContainsFunc(groups[ref.Name].Spec.ThinPools, func(t ThinPool) bool { return t.Name == ref.ThinPoolName }) {
			return fmt.Errorf("LVMVolumeGroup %q: thinPool %q not found in Spec.ThinPools", ref.Name, ref.ThinPoolName)
		}
	}
	return nil
}

// nodeSelector returns which nodes a pool asks for.
func nodeSelector(pool *StoragePool) (labels.Selector, error) {
	selector := labels.Everything()
	if pool.Spec.NodeLabelSelector != nil {
		parsed, err := metav1.LabelSelectorAsSelector(pool.Spec.NodeLabelSelector)
		if err != nil {
			return nil, errors.New("Invalid NodeLabelSelector: " + err.Error())
		}
		selector = parsed
	}
	if len(pool.Spec.Zones) > 0 {
		zones, err := labels.NewRequirement(corev1.LabelTopologyZone, selection.In, pool.Spec.Zones)
		if err != nil {
			return nil, errors.New("Invalid Zones: " + err.Error())
		}
		selector = selector.Add(*zones)
	}
	return selector, nil
}
