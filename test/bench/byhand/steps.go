package byhand

import "slices"

// The points of the scoring steps.
const (
	attachToBonus       = 1000
	multiGroupBonus     = 2
	zoneCapacityPenalty = -800
)

// candidates returns what a replica may be placed on, before scoring.
func (s *scheduling) candidates(r *Replica, diskful bool) *pipeline {
	var p *pipeline
	if diskful {
		p = groupsOf(s.nodes)
	} else {
		p = nodesOf(s.nodes)
	}
	p.keep("node not ready", func(c *candidate) bool { return !c.node.Unschedulable && c.node.NodeReady && c.node.AgentReady })
	if diskful {
		p.keep("LVG not ready", func(c *candidate) bool { return !c.group.Unschedulable && c.group.Ready })
	}
	if assigned := r.Spec.NodeName; assigned == "" {
		p.keep("node occupied", func(c *candidate) bool { return !s.occupied[c.node.NodeName] })
	} else {
		p.keep("node mismatch (assigned)", func(c *candidate) bool { return c.node.NodeName == assigned })
	}
	s.zones(p, diskful)
	return p
}

// zones excludes the candidates outside the preferred zones.
func (s *scheduling) zones(p *pipeline, diskful bool) {
	step, zones := "", map[string]bool(nil)
	switch s.volume.Status.Configuration.Topology {
	case "Zonal":
		step, zones = "zone (zonal majority)", s.preferred(func(ids idSet) int { return -(ids & s.diskful).size() })
	case "TransZonal":
		step, zones = "zone (transZonal min replicas)", s.preferred(s.load(diskful))
	}
	if zones != nil {
		p.keep(step, func(c *candidate) bool { return zones[c.node.ZoneName] })
	}
}

// load returns how many replicas of a set count towards the load of a zone.
func (s *scheduling) load(diskful bool) func(idSet) int {
	if diskful {
		return func(ids idSet) int { return (ids & s.diskful).size() }
	}
	return func(ids idSet) int { // fewest of both, then fewest tie-breakers
		return 1000*(ids&(s.diskful|s.tieBreaker)).size() + (ids & s.tieBreaker).size()
	}
}

// bonuses adds the points of the steps after the extender.
func (s *scheduling) bonuses(p *pipeline) {
	if len(s.attachTo) > 0 {
		for i := range p.candidates {
			if slices.Contains(s.attachTo, p.candidates[i].node.NodeName) {
				p.candidates[i].score += attachToBonus
			}
		}
	}
	configuration := s.volume.Status.Configuration
	if configuration.VolumeAccess != "Any" {
		p.scoreGroups(nodeOf, func(members []*candidate) int64 {
			if len(members) > 1 {
				return multiGroupBonus
			}
			return 0
		})
	}
	demand := required(configuration.Replication) - (s.scheduled & s.diskful).size()
	if configuration.Topology == "Zonal" && demand > 0 {
		p.scoreGroups(zoneOf, func(members []*candidate) int64 {
			if countNodes(members) < demand {
				return zoneCapacityPenalty
			}
			return 0
		})
	}
}

func nodeOf(c *candidate) string { return c.node.NodeName }
func zoneOf(c *candidate) string { return c.node.ZoneName }

func countNodes(members []*candidate) int {
	seen := make(map[string]bool, len(members))
	for _, c := range members {
		seen[c.node.NodeName] = true
	}
	return len(seen)
}
