package byhand

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// candidate is a node, or a volume group of a node, that a replica may be placed on.
type candidate struct {
	node  *EligibleNode
	group *EligibleVolumeGroup // nil for a tie-breaker
	score int64
}

func (c *candidate) ref() VolumeGroupRef {
	return VolumeGroupRef{Name: c.group.Name, ThinPoolName: c.group.ThinPoolName}
}

// pipeline has the candidates that are left, and how many each step excluded.
type pipeline struct {
	candidates []*candidate
	source     string
	excluded   []exclusion
}

type exclusion struct {
	step  string
	count int
}

// groupsOf takes each volume group of each node as a candidate.
func groupsOf(nodes []EligibleNode) *pipeline {
	total := 0
	for i := range nodes {
		total += len(nodes[i].VolumeGroups)
	}
	p := &pipeline{candidates: make([]*candidate, 0, total)}
	for i := range nodes {
		for j := range nodes[i].VolumeGroups {
			p.candidates = append(p.candidates, &candidate{node: &nodes[i], group: &nodes[i].VolumeGroups[j]})
		}
	}
	p.source = fmt.Sprintf("%d candidates (node×LVG) from %d eligible nodes", total, len(nodes))
	return p
}

// nodesOf takes each node as a candidate.
func nodesOf(nodes []EligibleNode) *pipeline {
	p := &pipeline{candidates: make([]*candidate, len(nodes))}
	for i := range nodes {
		p.candidates[i] = &candidate{node: &nodes[i]}
	}
	p.source = fmt.Sprintf("%d candidates from %d eligible nodes", len(nodes), len(nodes))
	return p
}

// keep excludes the candidates that a step does not keep.
func (p *pipeline) keep(step string, predicate func(*candidate) bool) {
	before := len(p.candidates)
	kept := make([]*candidate, 0, before)
	for _, c := range p.candidates {
		if predicate(c) {
			kept = append(kept, c)
		}
	}
	p.candidates = kept
	p.note(step, before-len(kept))
}

func (p *pipeline) note(step string, count int) {
	if count > 0 {
		p.excluded = append(p.excluded, exclusion{step, count})
	}
}

// scoreGroups adds points to all candidates of a group.
func (p *pipeline) scoreGroups(key func(*candidate) string, points func(members []*candidate) int64) {
	groups := map[string][]*candidate{}
	for _, c := range p.candidates {
		groups[key(c)] = append(groups[key(c)], c)
	}
	for _, members := range groups {
		n := points(members)
		if n == 0 {
			continue
		}
		for _, c := range members {
			c.score += n
		}
	}
}

// scoreByExtender keeps the candidates with room, with their score. Candidates and
// scores are sorted by volume group and joined.
func (p *pipeline) scoreByExtender(ctx context.Context, extender Extender, reservation string, size int64) error {
	refs := make([]VolumeGroupRef, len(p.candidates))
	for i, c := range p.candidates {
		refs[i] = c.ref()
	}
	scores, err := extender.FilterAndScore(ctx, reservation, size, refs)
	if err != nil {
		return err
	}
	slices.SortFunc(scores, func(a, b Score) int { return compareRefs(a.VolumeGroupRef, b.VolumeGroupRef) })
	slices.SortFunc(p.candidates, func(a, b *candidate) int { return compareRefs(a.ref(), b.ref()) })
	next := 0
	p.keep("scoring (no capacity)", func(c *candidate) bool {
		for next < len(scores) && compareRefs(scores[next].VolumeGroupRef, c.ref()) < 0 {
			next++
		}
		if next == len(scores) || scores[next].VolumeGroupRef != c.ref() {
			return false
		}
		c.score = scores[next].Score
		return c.score > 0
	})
	return nil
}

func compareRefs(a, b VolumeGroupRef) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ThinPoolName, b.ThinPoolName))
}

// best returns the candidate with the highest score; nil if there is none.
func (p *pipeline) best() *candidate {
	if len(p.candidates) == 0 {
		return nil
	}
	best := p.candidates[0]
	for _, c := range p.candidates[1:] {
		if better(c, best) {
			best = c
		}
	}
	return best
}

func better(a, b *candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if a.node.NodeName != b.node.NodeName {
		return a.node.NodeName < b.node.NodeName
	}
	return a.group != nil && compareRefs(a.ref(), b.ref()) < 0
}

// summary says which steps excluded how many candidates.
func (p *pipeline) summary() string {
	var b strings.Builder
	b.WriteString(p.source)
	for _, e := range p.excluded {
		fmt.Fprintf(&b, "; %d excluded: %s", e.count, e.step)
	}
	return b.String()
}
