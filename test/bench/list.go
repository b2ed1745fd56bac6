package main

import "github.com/edict-dev/edict/test/bench/measure"

var sizes = []int{100, 1000, 5000}

// goals are those of 100, 1,000 and 5,000 nodes.
type goals [3]float64

// topologies are those of a volume; the first is measured in all cases.
var topologies = []string{"TransZonal", "Zonal", "Ignored"}

// kinds of cases: what an operation of placing is.
var (
	steadily      = placingOf(1, func(p *placing) measure.Side { return steady{p} })
	coldly        = placingOf(1, func(p *placing) measure.Side { return cold{p} })
	ready         = placingOf(1, func(p *placing) measure.Side { return firstVolume{cold{p}} })
	afterChange   = placingOf(1, func(p *placing) measure.Side { return changed{p} })
	lookAgain     = placingOf(1, func(p *placing) measure.Side { return placedAgain{p} })
	lookFirst     = placingOf(1, func(p *placing) measure.Side { return placedFirst{p} })
	lookChanged   = placingOf(1, func(p *placing) measure.Side { return placedChanged{p} })
	inSmallPools  = placingOf(smallPools, func(p *placing) measure.Side { return steady{p} })
	poolChanged   = poolsOf(true, func(p *poolSide) measure.Side { return nodeChanged{p} })
	poolFirst     = poolsOf(false, func(p *poolSide) measure.Side { return firstLook{p} })
	poolHeartbeat = poolsOf(true, func(p *poolSide) measure.Side { return heartbeat{p} })
)

// smallPools is how many small pools there are.
const smallPools = 500

// cases returns all cases.
func cases() []spec {
	var out []spec
	add := func(s spec, g goals) {
		for i, n := range sizes {
			s.Nodes, s.Goal = n, g[i]
			out = append(out, s)
		}
	}
	for _, t := range topologies {
		add(spec{Name: "steady", Topology: t, sides: steadily}, goals{3, 10, 10})
		add(spec{Name: "cold", Topology: t, sides: coldly}, goals{3, 3, 3})
		add(spec{Name: "changed", Topology: t, sides: afterChange}, goals{3, 10, 10})
	}
	first := topologies[0]
	add(spec{Name: "steady", Lean: true, Topology: first, sides: steadily}, goals{3, 20, 20})
	add(spec{Name: "first volume", Topology: first, sides: ready}, goals{})
	add(spec{Name: "placed again", Topology: first, sides: lookAgain}, goals{10, 10, 10})
	add(spec{Name: "placed, first look", Topology: first, sides: lookFirst}, goals{3, 3, 3})
	add(spec{Name: "placed, pool changed", Topology: first, Asleep: true, sides: lookChanged}, goals{})
	add(spec{Name: "eligibility, node changed", sides: poolChanged}, goals{10, 10, 10})
	add(spec{Name: "eligibility, node changed", Lean: true, sides: poolChanged}, goals{})
	add(spec{Name: "eligibility, cold", sides: poolFirst}, goals{2, 2, 2})
	add(spec{Name: "node label", sides: labelSides}, goals{})
	add(spec{Name: "extender client", sides: askingSides}, goals{3, 3, 3})
	add(spec{Name: "extender client, first request", sides: askingFirstSides}, goals{3, 3, 3})
	return append(out,
		spec{Name: "heartbeat", Nodes: 1000, Asleep: true, Allocs: 5, sides: poolHeartbeat},
		spec{Name: "many small pools", Nodes: 10 * smallPools, Topology: first, least: 10 * smallPools, sides: inSmallPools})
}

// find returns the cases that are asked for.
func find(matches func(string) bool, nodes map[int]bool) []spec {
	var out []spec
	for _, c := range cases() {
		if matches(c.label()) && (len(nodes) == 0 || nodes[c.Nodes]) {
			out = append(out, c)
		}
	}
	return out
}
