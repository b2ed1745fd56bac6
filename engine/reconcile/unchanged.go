package reconcile

import (
	"crypto/sha256"
	"fmt"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// unchanged are writes that the API server has taken and left the object as it was: it drops
// what they say, stores it in another form, or keeps the order of a list. They would be
// decided again with every evaluation, so they are not made again until what they say or the
// fields that they name change.
type unchanged struct{ digests map[place]digest }

// place is the target of a write.
type place struct {
	target      world.ID
	subresource string
	verb        string
}

// digest is of a write and of the fields that it names.
type digest [sha256.Size]byte

func targetOf(e *eval.Effect) place { return place{e.Target, e.Subresource, e.Verb} }

// digestOf returns the digest of a write to an object as the decision saw it.
func digestOf(e *eval.Effect) (d digest) {
	h := sha256.New()
	for _, v := range []value.Value{e.Patch, named(e.Before, e.Patch)} {
		text, err := value.JSON(v)
		fmt.Fprintf(h, "%d %v %s", len(text), err, text)
	}
	h.Sum(d[:0])
	return d
}

// named returns the fields of a value that a patch names; lists are whole.
func named(v value.Value, patch *value.Map) value.Value {
	fields, ok := v.(*value.Map)
	if !ok {
		return v
	}
	out := map[string]value.Value{}
	for i := range patch.Len() {
		name, want := patch.At(i)
		is := fields.Lookup(name)
		if inner, isMap := want.(*value.Map); isMap {
			is = named(is, inner)
		}
		if is != nil {
			out[name] = is
		}
	}
	return value.FromMap(out)
}

// withoutUnchanged returns the effects without the writes that would change nothing again,
// and what stays noted of their targets.
func (k *known) withoutUnchanged(key eval.Key, effects []*eval.Effect) (rest []*eval.Effect, still *unchanged) {
	k.mu.Lock()
	noted := k.states.of(key).unchanged
	k.mu.Unlock()
	if noted == nil {
		return effects, nil
	}
	still = &unchanged{map[place]digest{}}
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

// noteUnchanged notes which writes have changed nothing, beside what stays noted, and reports
// each once.
func (r *reconciliation) noteUnchanged(still *unchanged) {
	for _, o := range r.result.Outcomes {
		if !o.Unchanged || o.Err != nil {
			continue
		}
		if still == nil {
			still = &unchanged{map[place]digest{}}
		}
		still.digests[targetOf(o.Effect)] = digestOf(o.Effect)
		if o.Effect.Verb == eval.VerbPatch {
			r.failed.reported = append(r.failed.reported, fmt.Errorf("rule %q: writing %s %s: %w", o.Effect.Rules[0], o.Effect.Target.Kind, name(o.Effect.Target), apply.ErrUnchanged))
		}
	}
	r.c.known.setUnchanged(r.key, still)
}

// setUnchanged replaces what is noted for a key, unless the key is gone or others decide
// about it by now.
func (k *known) setUnchanged(key eval.Key, now *unchanged) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.states[key]; s != nil && s.memo != nil && k.revisions.successor == nil {
		s.unchanged = now
	}
}
