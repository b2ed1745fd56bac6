package byhand

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// idSet is a set of replicas of one volume, by their place in the list.
type idSet uint64

func (s idSet) has(i int) bool { return s&(1<<i) != 0 }
func (s *idSet) add(i int)     { *s |= 1 << i }
func (s idSet) size() int      { return bits.OnesCount64(uint64(s)) }

// scheduling is what the replicas of a volume share while they are placed.
type scheduling struct {
	volume   *Volume
	nodes    []EligibleNode // by name
	replicas []*Replica     // in the order in which they are placed
	occupied map[string]bool
	attachTo []string
	byZone   map[string]idSet

	all, access, diskful, tieBreaker, deleting, scheduled idSet
}

func newScheduling(v *Volume, pool *StoragePool, replicas []*Replica) *scheduling {
	s := &scheduling{
		volume: v, nodes: sortedNodes(pool.Status.EligibleNodes), replicas: replicas,
		occupied: map[string]bool{}, attachTo: v.Status.DesiredAttachTo, byZone: map[string]idSet{},
	}
	on := map[string]idSet{}
	for i, r := range replicas {
		s.classify(i, r, pool.Spec.Type)
		if r.Spec.NodeName != "" {
			s.occupied[r.Spec.NodeName] = true
			ids := on[r.Spec.NodeName]
			ids.add(i)
			on[r.Spec.NodeName] = ids
		}
	}
	s.countZones(on)
	return s
}

// countZones notes which replicas are in which zone, by the replicas on each node.
func (s *scheduling) countZones(on map[string]idSet) {
	for i := range s.nodes {
		n := &s.nodes[i]
		ids, known := s.byZone[n.ZoneName]
		here := on[n.NodeName]
		if !known || here != 0 {
			s.byZone[n.ZoneName] = ids | here
		}
	}
}

func (s *scheduling) classify(i int, r *Replica, poolType string) {
	s.all.add(i)
	switch r.Spec.Type {
	case "Access":
		s.access.add(i)
	case "Diskful":
		s.diskful.add(i)
	case "TieBreaker":
		s.tieBreaker.add(i)
	}
	if r.DeletionTimestamp != nil {
		s.deleting.add(i)
	}
	if isScheduled(r, poolType) {
		s.scheduled.add(i)
	}
}

func isScheduled(r *Replica, poolType string) bool {
	if r.Spec.NodeName == "" || r.Spec.Type == "Access" {
		return false
	}
	if r.Spec.Type == "TieBreaker" {
		return true
	}
	thin := r.Spec.LVMVolumeGroupThinPoolName != ""
	return r.Spec.LVMVolumeGroupName != "" && (poolType == "LVMThin" && thin || poolType == "LVM" && !thin)
}

// sortedNodes returns nodes by name. They are copied only if they are not in this
// order already.
func sortedNodes(nodes []EligibleNode) []EligibleNode {
	for i := range nodes[min(1, len(nodes)):] {
		if nodes[i].NodeName > nodes[i+1].NodeName {
			nodes = slices.Clone(nodes)
			slices.SortFunc(nodes, func(a, b EligibleNode) int { return strings.Compare(a.NodeName, b.NodeName) })
			return nodes
		}
	}
	return nodes
}

// sortReplicas sorts by the number at the end of the name.
func sortReplicas(replicas []*Replica) {
	slices.SortFunc(replicas, func(a, b *Replica) int {
		return cmp.Or(cmp.Compare(number(a.Name), number(b.Name)), strings.Compare(a.Name, b.Name))
	})
}

func number(name string) uint64 {
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	if err != nil {
		return ^uint64(0)
	}
	return n
}

// place notes that a replica has a place.
func (s *scheduling) place(i int, c *candidate) {
	s.occupied[c.node.NodeName] = true
	s.scheduled.add(i)
	ids := s.byZone[c.node.ZoneName]
	ids.add(i)
	s.byZone[c.node.ZoneName] = ids
}

// preferred returns the zones that are least by a number; nil if all are alike.
func (s *scheduling) preferred(number func(idSet) int) map[string]bool {
	least, out := 0, map[string]bool{}
	for zone, ids := range s.byZone {
		n := number(ids)
		if len(out) > 0 && n > least {
			continue
		}
		if len(out) == 0 || n < least {
			least = n
			clear(out)
		}
		out[zone] = true
	}
	if len(out) == len(s.byZone) {
		return nil
	}
	return out
}

// required returns how many Diskful replicas a volume is to have.
func required(replication string) int {
	switch replication {
	case "Availability", "Consistency":
		return 2
	case "ConsistencyAndAvailability":
		return 3
	default:
		return 1
	}
}
