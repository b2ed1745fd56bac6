package main

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/test/bench/objects"
)

// placing is one side of placing the replicas of volumes. What differs between the
// cases is what is prepared and what an operation is.
type placing struct {
	shape    shape
	make     func() (system, error)
	sent     *writes
	topology string

	sys     system
	pools   [2]*event // without and with a cordoned node, taken in in turns
	turn    int
	next    int // number of the next volume
	volumes [][]*event
	fresh   []system
	woken   int
}

// shape is the size of a world.
type shape struct{ pools, nodes int }

func (s shape) poolName(volume int) string { return fmt.Sprintf("pool-%03d", volume%s.pools) }

// poolEvents returns the pools: all nodes ready, or one of them cordoned.
func (s shape) poolEvents(cordoned, version int) []*event {
	each := s.nodes / s.pools
	out := make([]*event, s.pools)
	for i := range out {
		out[i] = newEvent(objects.EligiblePool(s.poolName(i), i*each, each, cordoned, version))
	}
	return out
}

// volume returns a volume and its replicas. Those of a placed one have nodes.
func (p *placing) volume(i int, placed bool) []*event {
	each := p.shape.nodes / p.shape.pools
	first := i % p.shape.pools * each
	out := []*event{newEvent(objects.Volume(i, p.topology, p.shape.poolName(i), objects.NodeName(first+i%each)))}
	for r := range objects.Replicas {
		o := objects.Replica(i, r)
		if placed {
			o = objects.Placed(i, r, first+(i+r)%each)
		}
		out = append(out, newEvent(o))
	}
	return out
}

// start makes a system that has its pools and has placed a volume in each.
func (p *placing) start() (system, error) {
	sys, err := p.make()
	if err != nil {
		return nil, err
	}
	if err := putAll(sys, p.shape.poolEvents(-1, 1000)...); err != nil {
		return nil, err
	}
	for i := range p.shape.pools {
		v := p.volume(i, false)
		if err := putAll(sys, v...); err != nil {
			return nil, err
		}
		if err := sys.reconcile(objects.VolumeName(i)); err != nil {
			return nil, err
		}
		if err := removeAll(sys, v...); err != nil {
			return nil, err
		}
	}
	return sys, nil
}

// begin starts the system unless it runs, and makes n volumes in place of those of
// the batch before.
func (p *placing) begin(n int, placed bool) (err error) {
	if p.sys == nil {
		if p.sys, err = p.start(); err != nil {
			return err
		}
		p.next = p.shape.pools
		p.pools = [2]*event{p.shape.poolEvents(-1, 1001)[0], p.shape.poolEvents(p.shape.nodes/2, 1002)[0]}
	}
	for _, v := range p.volumes {
		if err := removeAll(p.sys, v...); err != nil {
			return err
		}
	}
	p.volumes = p.volumes[:0]
	for range n {
		p.volumes = append(p.volumes, p.volume(p.next, placed))
		p.next++
	}
	p.sent.count = 0
	return nil
}

// Apart implements measure.Assisted.
func (p *placing) Apart() time.Duration { return transport.Used }

// change returns the next state of the pool, which differs from the one before.
func (p *placing) change() *event {
	p.turn++
	return p.pools[p.turn%2]
}

func (p *placing) name(i int) string { return p.volumes[i][0].name }

// manyNodes is from how many nodes on every replica finds a place.
const manyNodes = 100

// place reconciles a volume that is to be placed.
func (p *placing) place(sys system, i int) error {
	before := p.sent.count
	if err := sys.reconcile(p.name(i)); err != nil {
		return err
	}
	if n := p.sent.count - before; n != 2*objects.Replicas && p.shape.nodes >= manyNodes {
		return fmt.Errorf("%s: %d patches, want %d", p.name(i), n, 2*objects.Replicas)
	}
	return nil
}

// settled reconciles a volume for which there is nothing to do.
func (p *placing) settled(i int) error {
	before := p.sent.count
	if err := p.sys.reconcile(p.name(i)); err != nil {
		return err
	}
	if p.sent.count != before {
		return fmt.Errorf("%s is placed, and was written", p.name(i))
	}
	return nil
}
