package brake

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

const (
	// maxKept bounds the keys of a policy of which is known what is kept back,
	// maxShown the writes of one of them that are shown.
	maxKept  = 10_000
	maxShown = 3
	// maxShownText bounds what is said of one write, in bytes.
	maxShownText = 256
)

// Kept is what is kept back of a key.
type Kept struct {
	Policy string
	Key    eval.Key
	Reason Reason
	// Rules are those of the effects, Writes how many there are, and Shown says
	// what the first of them would do.
	Rules  []string
	Writes int
	Shown  []string
	Since  time.Time
}

// keep notes what is kept back of a key; nothing forgets it.
func (p *Policy) keep(key eval.Key, back []Back, now time.Time) {
	before := p.back[key]
	if len(back) == 0 {
		if before != nil {
			delete(p.back, key)
		}
		return
	}
	if before == nil && len(p.back) >= maxKept {
		return
	}
	one := &Kept{Policy: p.name, Key: key, Reason: back[0].Reason, Since: now}
	if before != nil && before.Reason == one.Reason {
		one.Since = before.Since
	}
	for _, b := range back {
		if b.Effect.Verb != eval.VerbEvent {
			one.add(b.Effect)
		}
	}
	p.back[key] = one
}

func (k *Kept) add(e *eval.Effect) {
	k.Writes++
	for _, rule := range e.Rules {
		if !slices.Contains(k.Rules, rule) {
			k.Rules = append(k.Rules, rule)
		}
	}
	if len(k.Shown) < maxShown {
		k.Shown = append(k.Shown, value.Cut(shown(e), maxShownText))
	}
}

// shown says what an effect does, without values: they may be secret.
func shown(e *eval.Effect) string {
	out := e.Verb + " " + objectName(e.Target)
	if e.Subresource != "" {
		out += " (" + e.Subresource + ")"
	}
	if e.Verb != eval.VerbPatch {
		return out
	}
	for i, c := range changes(e) {
		if i == maxNamed {
			return out + ", ..."
		}
		what := "set"
		if c.removed {
			what = "removed"
		}
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		out += fmt.Sprintf("%s%s %s", sep, c.path, what)
	}
	return out
}

// Kept returns what is kept back of a policy, sorted by key.
func (p *Policy) Kept() []Kept {
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	out := make([]Kept, 0, len(p.back))
	for _, one := range p.back {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Kept) int {
		return cmp.Or(cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
	})
	return out
}

// Of reports whether something is kept back by a hold.
func (k *Kept) Of(h *Hold) bool {
	return k.Reason == Held && k.Policy == h.Policy && h.of(k.Key, k.Rules)
}

// Forget drops what is kept back of a key that is gone. Its pace stays: the key may be
// made again.
func (p *Policy) Forget(key eval.Key) {
	if p == nil {
		return
	}
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	delete(p.back, key)
	p.mark()
}
