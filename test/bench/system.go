package main

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/objects"
)

// event is an object as a watch of its kind sends it to either side.
type event struct {
	kind, name string
	// json is what Edict receives, typed what the controllers written by hand do.
	json, typed []byte
}

func newEvent(o objects.Object) *event {
	return eventOf(objects.Kind(o), objects.Name(o), objects.Text(o))
}

// eventOf returns the event with an object that is given as JSON.
func eventOf(kind, name string, object []byte) *event {
	e := &event{kind: kind, name: name, json: fmt.Appendf(nil, "{\"type\":\"ADDED\",\"object\":%s}\n", object)}
	var err error
	if e.typed, err = byhand.Event(kind, object, e.json); err != nil {
		panic(err) // the objects are those of this benchmark
	}
	return e
}

// system is one side: a controller that takes in events and reconciles.
type system interface {
	// put decodes an object and takes it in. It returns how many keys it wakes.
	put(e *event) (woken int, err error)
	remove(e *event) error
	reconcile(name string) error
}

// writes takes the patches of a side.
type writes struct {
	count int
	// keep makes it keep them.
	keep bool
	kept []byhand.Write
}

func (w *writes) send(one byhand.Write) {
	w.count++
	if w.keep {
		w.kept = append(w.kept, one)
	}
}

// ours is Edict's side.
type ours struct{ engine *edict.Engine }

func (o ours) put(e *event) (int, error)   { return o.engine.Put(e.kind, e.json) }
func (o ours) remove(e *event) error       { o.engine.Delete(e.kind, e.name); return nil }
func (o ours) reconcile(name string) error { return o.engine.Reconcile(name, objects.Now) }

// theirs is the side written by hand.
type theirs struct {
	ctx    context.Context //nolint:containedctx // that of one benchmark
	system *byhand.System
}

func (t theirs) put(e *event) (int, error)   { return t.system.Put(e.kind, e.typed) }
func (t theirs) remove(e *event) error       { return t.system.Delete(e.kind, e.name) }
func (t theirs) reconcile(name string) error { return t.system.Controller.Reconcile(t.ctx, name) }

// putAll takes in objects.
func putAll(s system, events ...*event) error {
	for _, e := range events {
		if _, err := s.put(e); err != nil {
			return err
		}
	}
	return nil
}

func removeAll(s system, events ...*event) error {
	for _, e := range events {
		if err := s.remove(e); err != nil {
			return err
		}
	}
	return nil
}
