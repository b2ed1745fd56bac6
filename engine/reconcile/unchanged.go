package reconcile

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// errUnchanged is the error of a write that has changed nothing.
var errUnchanged = errors.New("the API server has left the object as it was: it drops a field that is written, stores its value in another form, or keeps the order of a list. The write is not made again before the write or the stored fields change; correct the field, or leave it out")

// unchanged holds the writes after which an object had the same resourceVersion as before.
// Every evaluation would decide them again. They are not made again before the write, or the
// stored values of its fields, change.
type unchanged struct{ digests map[writeTarget]digest }

// writeTarget identifies a write: its verb and its object or subresource.
type writeTarget struct {
	target      world.ID
	subresource string
	verb        string
}

// digest is the SHA-256 of a write and of the stored values of its fields.
type digest [sha256.Size]byte

func targetOf(e *eval.Effect) writeTarget { return writeTarget{e.Target, e.Subresource, e.Verb} }

// digestOf returns the digest of a write, with the stored values that the decision was based
// on.
func digestOf(e *eval.Effect) (d digest) {
	h := sha256.New()
	for _, v := range []value.Value{e.Patch, fieldsOf(e.Before, e.Patch)} {
		text, err := value.JSON(v)
		fmt.Fprintf(h, "%d %v %s", len(text), err, text)
	}
	h.Sum(d[:0])
	return d
}

// fieldsOf returns the fields of a value that a patch has. Lists are returned whole.
func fieldsOf(v value.Value, patch *value.Map) value.Value {
	fields, ok := v.(*value.Map)
	if !ok {
		return v
	}
	out := map[string]value.Value{}
	for i := range patch.Len() {
		name, want := patch.At(i)
		is := fields.Lookup(name)
		if inner, isMap := want.(*value.Map); isMap {
			is = fieldsOf(is, inner)
		}
		if is != nil {
			out[name] = is
		}
	}
	return value.FromMap(out)
}

// withoutUnchanged removes the writes that would change nothing again from effects. It also
// returns the notes about the targets of effects.
func (k *known) withoutUnchanged(key eval.Key, effects []*eval.Effect) (rest []*eval.Effect, still *unchanged) {
	k.mu.Lock()
	noted := k.states.of(key).unchanged
	k.mu.Unlock()
	if noted == nil {
		return effects, nil
	}
	still = &unchanged{map[writeTarget]digest{}}
	for _, e := range effects {
		at := targetOf(e)
		was, ok := noted.digests[at]
		if ok {
			still.digests[at] = was
		}
		if !ok || was != digestOf(e) {
			rest = append(rest, e)
		}
	}
	return rest, still
}

// noteUnchanged adds the writes that have changed nothing to the notes still, replaces the
// notes of the key, and reports each new one.
func (r *reconciliation) noteUnchanged(still *unchanged) {
	for _, o := range r.result.Outcomes {
		if !o.Unchanged || o.Err != nil {
			continue
		}
		if still == nil {
			still = &unchanged{map[writeTarget]digest{}}
		}
		still.digests[targetOf(o.Effect)] = digestOf(o.Effect)
		r.failed.reported = append(r.failed.reported, fmt.Errorf("rule %q: writing %s %s: %w", o.Effect.Rules[0], o.Effect.Target.Kind(), name(o.Effect.Target), errUnchanged))
	}
	r.c.known.setUnchanged(r.key, still)
}

// setUnchanged replaces the notes of a key, unless the key is gone or another revision has
// taken over.
func (k *known) setUnchanged(key eval.Key, now *unchanged) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.states[key]; s != nil && s.memo != nil && k.revisions.successor == nil {
		s.unchanged = now
	}
}
