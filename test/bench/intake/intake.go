package intake

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/bench/measure"
)

// Options say what is measured and written.
type Options struct {
	// Markdown prints tables of Markdown.
	Markdown bool
	// Out is the file that takes the figures as JSON; "" is none.
	Out string
}

// rounds is how often Edict's side is measured, whose medians are shown, and byHand how
// often client-go's.
const (
	rounds = 3
	byHand = 1
)

// Run measures what it takes to take the objects of a large cluster in.
func Run(ctx context.Context, o Options, to io.Writer) error {
	found, err := measured(ctx, full)
	if err != nil {
		return err
	}
	printer{to, o.Markdown}.report(found)
	if o.Out == "" {
		return nil
	}
	return found.write(o.Out)
}

// run is the objects of one benchmark, and what was measured with them.
type run struct {
	ctx    context.Context //nolint:containedctx // that of one benchmark
	bundle *source.Bundle
	kinds  []kind
	texts  map[string]texts
	seen   map[string][]measure.Cost
	// keys is how many keys a policy has.
	keys map[string]int
}

func measured(ctx context.Context, s sizes) (*report, error) {
	bundle, err := load()
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, bundle: bundle, kinds: append([]kind{s.pools()}, s.kinds()...), texts: map[string]texts{}, seen: map[string][]measure.Cost{}, keys: map[string]int{}}
	for _, k := range r.kinds {
		t, err := newTexts(k)
		if err != nil {
			return nil, err
		}
		defer t.free()
		r.texts[k.name] = t
	}
	if err := r.rounds(); err != nil {
		return nil, err
	}
	return newReport(r, s), nil
}

// rounds measures everything as often as it is to be.
func (r *run) rounds() error {
	for _, part := range []struct {
		n  int
		do func() error
	}{
		{rounds, r.edict}, {rounds, r.edictWhole},
		{byHand, func() error { return r.hand("typed", newTyped) }},
		{byHand, func() error { return r.handWhole("typed", newTyped()) }},
		{byHand, func() error { return r.hand("loose", newLoose) }},
		{byHand, func() error { return r.handWhole("loose", newLoose()) }},
	} {
		for range part.n {
			if err := part.do(); err != nil {
				return err
			}
		}
	}
	return nil
}

// steps are those of one side, one after the other.
type steps struct {
	*run
	*measure.Series
}

func (r *run) steps() steps { return steps{r, measure.NewSeries()} }

// step measures a step without the collector, and keeps what it took under a name.
func (s steps) step(name string, do func() error) (measure.Cost, error) {
	c, err := s.Step(do)
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	s.add(name, c)
	return c, nil
}

func (r *run) add(name string, c measure.Cost) { r.seen[name] = append(r.seen[name], c) }

// edict measures Edict's steps, one kind after the other, and then the decisions.
func (r *run) edict() error {
	e, all := newEngine(r.ctx, r.bundle), make([][]*world.Object, len(r.kinds))
	for i, k := range r.kinds {
		all[i] = make([]*world.Object, k.n)
	}
	s := r.steps()
	for i, k := range r.kinds {
		if err := s.kind(e, k, all[i]); err != nil {
			return err
		}
	}
	for _, c := range e.group.Controllers() {
		r.keys[c.Policy.Name] = len(c.Keys())
		if _, err := s.step(c.Policy.Name, func() error { return e.decide(c, c.Keys()) }); err != nil {
			return err
		}
	}
	dropped, err := s.Step(func() error { e.group.Records = nil; return nil })
	r.add("records", measure.Cost{Live: -dropped.Live})
	runtime.KeepAlive(e)
	runtime.KeepAlive(all)
	return err
}

// kind measures the steps of a kind. What the mapping to keys takes is what taking the
// objects in takes beyond storing them.
func (s steps) kind(e *engine, k kind, all []*world.Object) error {
	if _, err := s.step(k.name+"/decode", func() error { return e.decode(k.name, s.texts[k.name].each, all) }); err != nil {
		return err
	}
	stored, err := s.step(k.name+"/store", func() error { e.store(k.name, all); return nil })
	if err != nil {
		return err
	}
	taken, err := s.Step(func() error { e.take(k.name, all); return nil })
	s.add(k.name+"/map", taken.Less(stored))
	return err
}

// edictWhole measures everything up to the keys with the collector.
func (r *run) edictWhole() error {
	e := newEngine(r.ctx, r.bundle)
	return r.whole("edict", e.event)
}

// whole takes all objects in, and measures that with the collector.
func (r *run) whole(name string, event func(kind string, text []byte) error) error {
	c, err := measure.Once(func() error {
		for _, k := range r.kinds {
			for _, text := range r.texts[k.name].each {
				if err := event(k.name, text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	r.add(name, c)
	runtime.KeepAlive(event)
	return err
}

// hand measures the steps of a cache of client-go, one for each kind: none knows of the
// others.
func (r *run) hand(name string, fresh func() hand) error {
	for _, k := range r.kinds {
		h, all := fresh(), make([]client.Object, k.n)
		s := r.steps()
		if _, err := s.step(k.name+"/"+name+"/decode", func() error { return handDecode(h, r.texts[k.name].each, all) }); err != nil {
			return err
		}
		if _, err := s.step(k.name+"/"+name+"/store", func() error { return handStore(h, k.name, all) }); err != nil {
			return err
		}
		runtime.KeepAlive(all)
		runtime.KeepAlive(h)
	}
	return nil
}

// handWhole measures both steps with the collector.
func (r *run) handWhole(name string, h hand) error {
	return r.whole(name, func(kind string, text []byte) error {
		o, err := h.decode(text)
		if err != nil {
			return err
		}
		return h.put(kind, o)
	})
}
