package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestEveryInput creates, changes and deletes every kind of input and sees
// the pool and the labels follow; what nobody reads wakes nobody.
func TestEveryInput(t *testing.T) {
	t.Parallel()
	c := start(t, true)
	long := time.Now().Add(-24 * time.Hour)
	for _, n := range []string{"node-a", "node-b"} {
		c.put(node(n, "z1", true, long))
	}
	c.put(group("vg-a", "node-a", true))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a"), "zones": []any{"z1"}}))
	edict := c.run(nil)
	edict.running(eligibility, label)
	c.wantEligible("pool", "node-a+vg-a node-b")
	c.wantLabelled("node-a node-b")

	steps := []struct {
		name           string
		do             func()
		want, labelled string
	}{
		{"a node appears", func() { c.put(node("node-c", "z1", true, long)) }, "node-a+vg-a node-b node-c", "node-a node-b node-c"},
		{"a node of another zone appears", func() { c.put(node("node-d", "z2", true, long)) }, "node-a+vg-a node-b node-c", "node-a node-b node-c"},
		{"a node's zone changes", func() { c.merge("Node", "", "node-d", "", labels("topology.kubernetes.io/zone", "z1")) }, "node-a+vg-a node-b node-c node-d", "node-a node-b node-c node-d"},
		{"a node's zone goes", func() { c.merge("Node", "", "node-d", "", labels("topology.kubernetes.io/zone", nil)) }, "node-a+vg-a node-b node-c", "node-a node-b node-c"},
		{"a node is cordoned", func() { c.merge("Node", "", "node-b", "", object{"spec": object{"unschedulable": true}}) }, "node-a+vg-a node-b!cordoned node-c", "node-a node-b node-c"},
		{"a node is not Ready, within grace", func() { c.put(node("node-b", "z1", false, time.Now())) }, "node-a+vg-a node-b!ready!cordoned node-c", "node-a node-b node-c"},
		{"a node has long not been Ready", func() { c.put(node("node-b", "z1", false, long)) }, "node-a+vg-a node-c", "node-a node-c"},
		{"it comes back", func() { c.put(node("node-b", "z1", true, time.Now())) }, "node-a+vg-a node-b!cordoned node-c", "node-a node-b node-c"},
		{"a node is deleted", func() { c.delete("Node", "", "node-c") }, "node-a+vg-a node-b!cordoned", "node-a node-b"},
		{"an agent appears", func() { c.put(agent("agent-a", "node-a", true)) }, "node-a+agent+vg-a node-b!cordoned", "node-a node-b"},
		{"an agent is not ready", func() { c.put(agent("agent-a", "node-a", false)) }, "node-a+vg-a node-b!cordoned", "node-a node-b"},
		{"an agent is ready again", func() { c.put(agent("agent-a", "node-a", true)) }, "node-a+agent+vg-a node-b!cordoned", "node-a node-b"},
		{"an agent is deleted", func() { c.delete("Pod", "d8-sds-replicated-volume", "agent-a") }, "node-a+vg-a node-b!cordoned", "node-a node-b"},
		{"a group is not ready", func() { c.put(group("vg-a", "node-a", false)) }, "node-a+vg-a!ready node-b!cordoned", "node-a node-b"},
		{"a group is annotated", func() {
			c.merge("LVMVolumeGroup", "", "vg-a", "", annotations("storage.deckhouse.io/lvmVolumeGroupUnschedulable", ""))
		}, "node-a+vg-a!ready!unschedulable node-b!cordoned", "node-a node-b"},
		{"a group is deleted", func() { c.delete("LVMVolumeGroup", "", "vg-a") }, "node-a+vg-a!ready!unschedulable node-b!cordoned", "node-a node-b"},
		{"a group comes back", func() { c.put(group("vg-a", "node-b", true)) }, "node-a node-b!cordoned+vg-a", "node-a node-b"},
		{"a resource appears on a node of no pool", func() { c.put(resource("res", "node-d")) }, "node-a node-b!cordoned+vg-a", "node-a node-b node-d"},
		{"a second pool appears", func() {
			c.put(pool("other", object{"lvmVolumeGroups": refs("vg-a"), "zones": []any{"z2"}}))
		}, "node-a node-b!cordoned+vg-a", "node-a node-b node-d"},
		{"the resource is deleted", func() { c.delete("DRBDResource", "", "res") }, "node-a node-b!cordoned+vg-a", "node-a node-b"},
		{"somebody writes the label", func() { c.merge("Node", "", "node-d", "", labels(agentLabel, "x")) }, "node-a node-b!cordoned+vg-a", "node-a node-b"},
		{"somebody takes the label", func() { c.merge("Node", "", "node-a", "", labels(agentLabel, nil)) }, "node-a node-b!cordoned+vg-a", "node-a node-b"},
		{"the pool is deleted", func() { c.delete("ReplicatedStoragePool", "", "pool") }, "(gone)", ""},
	}
	for _, s := range steps {
		t.Log(s.name)
		s.do()
		c.wantEligible("pool", s.want)
		c.wantLabelled(s.labelled)
	}
}

func labels(key string, value any) object {
	return object{"metadata": object{"labels": object{key: value}}}
}

func annotations(key string, value any) object {
	return object{"metadata": object{"annotations": object{key: value}}}
}

func resource(name, nodeName string) object {
	return object{"apiVersion": storage, "kind": "DRBDResource", "metadata": object{"name": name}, "spec": object{
		"nodeName": nodeName, "state": "Up", "type": "Diskful", "nodeID": 0, "systemNetworks": []any{"Internal"},
		"size": "1Gi", "lvmLogicalVolumeName": "llv-" + name,
	}}
}

// TestNobodyIsWokenForNothing changes what nobody reads, and counts
// evaluations.
func TestNobodyIsWokenForNothing(t *testing.T) {
	controlplane.RequireLong(t)
	c := start(t, true)
	long := time.Now().Add(-24 * time.Hour)
	for _, n := range []string{"node-a", "node-b", "node-c"} {
		c.put(node(n, "z1", true, long))
	}
	c.put(node("node-z", "z2", true, long))
	c.put(group("vg-a", "node-a", true))
	c.put(group("vg-foreign", "node-a", true))
	c.put(agent("agent-a", "node-a", true))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a"), "zones": []any{"z1"}}))
	// Where the first annotation is added, the map of annotations is new.
	c.merge("ReplicatedStoragePool", "", "pool", "", annotations("first", "b"))
	edict := c.run(nil)
	edict.running(eligibility, label)
	c.wantEligible("pool", "node-a+agent+vg-a node-b node-c")
	c.wantLabelled("node-a node-b node-c")

	heartbeat := node("node-a", "z1", true, long)
	heartbeat["status"].(object)["conditions"].([]any)[0].(object)["lastHeartbeatTime"] = time.Now().UTC().Format(time.RFC3339)
	cases := []struct {
		name        string
		do          func()
		pools, node float64
	}{
		{"a heartbeat of a node", func() { c.merge("Node", "", "node-a", "status", object{"status": heartbeat["status"]}) }, 0, 0},
		{"an annotation of a node", func() { c.merge("Node", "", "node-a", "", annotations("a", "b")) }, 0, 0},
		{"a label of a node that no selector reads", func() { c.merge("Node", "", "node-z", "", labels("a", "b")) }, 0, 0},
		{"an annotation of an agent", func() { c.merge("Pod", "d8-sds-replicated-volume", "agent-a", "", annotations("a", "b")) }, 0, 0},
		{"an agent of a node of no pool", func() { c.put(agent("agent-z", "node-z", true)) }, 0, 0},
		{"a group of no pool", func() { c.put(group("vg-foreign", "node-a", false)) }, 0, 0},
		{"an annotation of a pool", func() { c.merge("ReplicatedStoragePool", "", "pool", "", annotations("a", "b")) }, 0, 0},
		{"the size of a group", func() {
			c.merge("LVMVolumeGroup", "", "vg-a", "status", object{"status": object{"vgFree": "1Gi"}})
		}, 0, 0},
		{"the label of one node", func() { c.merge("Node", "", "node-b", "", labels(agentLabel, nil)) }, 0, 2},
		{"an agent's readiness", func() { c.put(agent("agent-a", "node-a", false)) }, 2, 0},
		{"a node leaves the pool", func() { c.merge("Node", "", "node-c", "", labels("topology.kubernetes.io/zone", "z9")) }, 2, 2},
	}
	count := func() [2]float64 { return [2]float64{edict.evaluations(eligibility), edict.evaluations(label)} }
	for _, tc := range cases {
		before, want := atRest(count), [2]float64{tc.pools, tc.node}
		tc.do()
		eventually(t, tc.name, func() string {
			now := count()
			if got := [2]float64{now[0] - before[0], now[1] - before[1]}; got[0] < want[0] || got[1] < want[1] {
				return fmt.Sprintf("%v evaluations of pools and of nodes, want %v", got, want)
			}
			return ""
		})
		now := atRest(count)
		if got := [2]float64{now[0] - before[0], now[1] - before[1]}; got != want {
			t.Errorf("%s: %v evaluations of pools and of nodes, want %v", tc.name, got, want)
		}
	}
}

// atRest returns a count once it has not changed for a while.
func atRest(count func() [2]float64) [2]float64 {
	for before := count(); ; {
		time.Sleep(150 * time.Millisecond)
		now := count()
		if now == before {
			return now
		}
		before = now
	}
}
