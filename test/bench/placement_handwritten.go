package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
)

// This file places replicas as policies/replica-scheduling.yaml does, written
// by hand the way a controller would: slices of candidates, closures that
// filter and score them, maps, a sort.

type handVolume struct {
	name, topology, access string
	attachTo               []string
	size                   int64
	replicas               []*handReplica
}

type handReplica struct {
	name, kind, node, group, thinPool string
	deleting                          bool
	condition                         [3]string // status, reason, message
}

type handCandidate struct {
	node  *eligibleNode
	group *eligibleGroup
	score int64
}

type handQuery struct{ name, thinPool string }

// handPipeline is the candidates and what was done with them so far.
type handPipeline struct {
	candidates []handCandidate
	summary    string
}

func (p *handPipeline) filter(name string, keep func(*handCandidate) bool) {
	kept := make([]handCandidate, 0, len(p.candidates))
	for i := range p.candidates {
		if keep(&p.candidates[i]) {
			kept = append(kept, p.candidates[i])
		}
	}
	if n := len(p.candidates) - len(kept); n > 0 {
		p.summary += fmt.Sprintf("; %d excluded: %s", n, name)
	}
	p.candidates = kept
}

func (p *handPipeline) scoreBy(key func(*handCandidate) string, points func([]*handCandidate) int64) {
	groups := map[string][]*handCandidate{}
	for i := range p.candidates {
		c := &p.candidates[i]
		groups[key(c)] = append(groups[key(c)], c)
	}
	for _, members := range groups {
		n := points(members)
		for _, c := range members {
			c.score += n
		}
	}
}

// handContext is what the replicas of a volume share while they are placed.
type handContext struct {
	volume   *handVolume
	nodes    []eligibleNode
	occupied map[string]bool
	zoneOf   map[string]string
	diskful  map[string]int // by zone
	placed   int
}

func newHandContext(v *handVolume, nodes []eligibleNode) *handContext {
	c := &handContext{volume: v, nodes: slices.Clone(nodes), occupied: map[string]bool{}, zoneOf: map[string]string{}, diskful: map[string]int{}}
	slices.SortFunc(c.nodes, func(a, b eligibleNode) int { return cmp.Compare(a.nodeName, b.nodeName) })
	for i := range c.nodes {
		c.zoneOf[c.nodes[i].nodeName] = c.nodes[i].zoneName
		c.diskful[c.nodes[i].zoneName] += 0
	}
	for _, r := range v.replicas {
		if r.node == "" {
			continue
		}
		c.occupied[r.node] = true
		if zone, ok := c.zoneOf[r.node]; ok && r.kind == "Diskful" {
			c.diskful[zone]++
			c.placed++
		}
	}
	return c
}

// preferred are the zones with most Diskful replicas, nil when all are alike.
func (c *handContext) preferred() map[string]bool {
	most := 0
	for _, n := range c.diskful {
		most = max(most, n)
	}
	out := map[string]bool{}
	for zone, n := range c.diskful {
		if n == most {
			out[zone] = true
		}
	}
	if len(out) == len(c.diskful) {
		return nil
	}
	return out
}

// handPlace places the replicas of a volume, and returns how many it placed.
func handPlace(v *handVolume, nodes []eligibleNode, score func([]handQuery) []int64) int {
	c := newHandContext(v, nodes)
	done := 0
	for _, r := range v.replicas {
		if r.kind == "Diskful" && r.group == "" && !r.deleting && c.place(r, score) {
			done++
		}
	}
	return done
}

func (c *handContext) place(r *handReplica, score func([]handQuery) []int64) bool {
	p := c.source()
	p.filter("node not ready", func(x *handCandidate) bool { return !x.node.unschedulable && x.node.nodeReady && x.node.agentReady })
	p.filter("LVG not ready", func(x *handCandidate) bool { return !x.group.unschedulable && x.group.ready })
	p.filter("node occupied", func(x *handCandidate) bool { return !c.occupied[x.node.nodeName] })
	if preferred := c.preferred(); c.volume.topology == "Zonal" && preferred != nil {
		p.filter("zone (zonal majority)", func(x *handCandidate) bool { return preferred[x.node.zoneName] })
	}
	c.ask(p, r, score)
	for i := range p.candidates {
		if slices.Contains(c.volume.attachTo, p.candidates[i].node.nodeName) {
			p.candidates[i].score += 1000
		}
	}
	if c.volume.access != "Any" {
		p.scoreBy(func(x *handCandidate) string { return x.node.nodeName }, func(m []*handCandidate) int64 {
			if len(m) > 1 {
				return 2
			}
			return 0
		})
	}
	if demand := 3 - c.placed; c.volume.topology == "Zonal" && demand > 0 {
		p.scoreBy(func(x *handCandidate) string { return x.node.zoneName }, func(m []*handCandidate) int64 {
			seen := map[string]bool{}
			for _, x := range m {
				seen[x.node.nodeName] = true
			}
			if len(seen) < demand {
				return -800
			}
			return 0
		})
	}
	return c.finish(p, r)
}

func (c *handContext) source() *handPipeline {
	p := &handPipeline{}
	for i := range c.nodes {
		for j := range c.nodes[i].groups {
			p.candidates = append(p.candidates, handCandidate{node: &c.nodes[i], group: &c.nodes[i].groups[j]})
		}
	}
	p.summary = fmt.Sprintf("%d candidates (node×LVG) from %d eligible nodes", len(p.candidates), len(c.nodes))
	return p
}

func (c *handContext) ask(p *handPipeline, r *handReplica, score func([]handQuery) []int64) {
	h := fnv.New128a()
	_, _ = h.Write([]byte(r.group + "\x00" + r.thinPool))
	_ = r.name + "-" + fmt.Sprintf("%x", h.Sum(nil)) // the reservation's ID
	queries := make([]handQuery, len(p.candidates))
	for i, x := range p.candidates {
		queries[i] = handQuery{x.group.name, x.group.thinPool}
	}
	scores := make(map[handQuery]int64, len(queries))
	for i, s := range score(queries) {
		scores[queries[i]] = s
	}
	p.filter("scoring (no capacity)", func(x *handCandidate) bool {
		x.score = scores[handQuery{x.group.name, x.group.thinPool}]
		return x.score > 0
	})
}

func (c *handContext) finish(p *handPipeline, r *handReplica) bool {
	if len(p.candidates) == 0 {
		r.condition = [3]string{"False", "SchedulingFailed", p.summary}
		return false
	}
	slices.SortFunc(p.candidates, func(a, b handCandidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node.nodeName, b.node.nodeName),
			cmp.Compare(a.group.name, b.group.name), cmp.Compare(a.group.thinPool, b.group.thinPool))
	})
	best := p.candidates[0]
	r.node, r.group, r.thinPool = best.node.nodeName, best.group.name, best.group.thinPool
	r.condition = [3]string{"True", "Scheduled", "Replica scheduled successfully"}
	c.occupied[r.node] = true
	c.diskful[best.node.zoneName]++
	c.placed++
	return true
}

func handNodes(n int) []eligibleNode {
	out := make([]eligibleNode, n)
	for i := range out {
		out[i] = eligibleNode{nodeName: nodeName(i), zoneName: fmt.Sprintf("zone-%d", i%3), nodeReady: true, agentReady: true, groups: []eligibleGroup{
			{name: fmt.Sprintf("vg-%05d-a", i), ready: true}, {name: fmt.Sprintf("vg-%05d-b", i), ready: true},
		}}
	}
	return out
}

func handScores(queries []handQuery) []int64 {
	out := make([]int64, len(queries))
	for i := range queries {
		if i%17 != 0 {
			out[i] = int64(1 + i%10)
		}
	}
	return out
}

func benchPlaceByHand(b *testing.B, nodes int) {
	list := handNodes(nodes)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		v := handNewVolume(i % volumes)
		if handPlace(v, list, handScores) != 3 {
			b.Fatal("not placed")
		}
	}
}

func handNewVolume(i int) *handVolume {
	v := &handVolume{name: volumeName(i), topology: "Zonal", access: "PreferablyLocal", attachTo: []string{nodeName(i)}, size: 10 << 30}
	for r := range 3 {
		v.replicas = append(v.replicas, &handReplica{name: fmt.Sprintf("%s-%d", v.name, r), kind: "Diskful"})
	}
	return v
}
