package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/objects"
)

// event is an object as each side takes it in.
type event struct {
	kind  string
	plain objects.Object // decoded without a type
	typed client.Object  // decoded into its type
	text  []byte         // as it is sent
}

var decoder = byhand.NewCache(false)

func newEvent(o objects.Object) *event {
	e := &event{kind: objects.Kind(o), plain: o, text: objects.Text(o)}
	typed, err := decoder.Decode(e.text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", e.text, err)) // the objects are made for the types
	}
	e.typed = typed
	return e
}

// system is one side: a controller that takes in events and reconciles.
type system interface {
	// put takes in an object after it was decoded, putText one that is not. Both
	// return how many keys it wakes.
	put(e *event) (woken int, err error)
	putText(e *event) (woken int, err error)
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

func (o ours) put(e *event) (int, error)     { return o.engine.Put(e.plain), nil }
func (o ours) putText(e *event) (int, error) { return o.engine.PutText(e.text) }
func (o ours) remove(e *event) error         { o.engine.Delete(e.plain); return nil }
func (o ours) reconcile(name string) error   { return o.engine.Reconcile(name, objects.Now) }

// theirs is the side written by hand.
type theirs struct {
	ctx    context.Context //nolint:containedctx // that of one benchmark
	system *byhand.System
}

func (t theirs) put(e *event) (int, error)     { return t.system.Put(e.kind, e.typed) }
func (t theirs) putText(e *event) (int, error) { return t.system.PutText(e.text) }
func (t theirs) remove(e *event) error         { return t.system.Delete(e.kind, e.typed) }
func (t theirs) reconcile(name string) error   { return t.system.Controller.Reconcile(t.ctx, name) }

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
