package reconcile

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// The bounds of what is kept and told.
const (
	maxExamples = 20
	// maxDifferences is how many lines are kept of an example, maxDifference how
	// long one may be, in bytes.
	maxDifferences = 500
	maxDifference  = 2 << 10
	maxEffect      = 240
)

// ShadowCounts sums up what a policy in the shadow came to.
type ShadowCounts struct {
	Policy   string `json:"policy"`
	Revision string `json:"revision"`
	// Enforced is the revision that is compared with; "" is nothing.
	Enforced string `json:"enforced,omitempty"`
	// Evaluations is how often it has decided, Disagreements how often
	// otherwise, Undetermined how often that could not be told. Differing is for
	// how many keys it would do otherwise now.
	Evaluations   int `json:"evaluations"`
	Disagreements int `json:"disagreements"`
	Undetermined  int `json:"undetermined"`
	Differing     int `json:"differing"`
}

// Disagreement is a key about which a policy in the shadow decided otherwise.
type Disagreement struct {
	At  time.Time `json:"at"`
	Key string    `json:"key"`
	// Differences are the fields that would have been otherwise: "+" is done only
	// in the shadow, "-" only by what is enforced, "~" is done by both and leads
	// to another value. More is how many there are besides.
	Differences []string `json:"differences,omitempty"`
	More        int      `json:"more,omitempty"`
	// Undetermined says what would have been asked, of which no answer is known.
	Undetermined string `json:"undetermined,omitempty"`
	// Settled says that the decisions have come to be the same since.
	Settled bool `json:"settled,omitempty"`
}

// ShadowReport is what a policy in the shadow came to, with examples.
type ShadowReport struct {
	ShadowCounts
	Examples []Disagreement `json:"examples,omitempty"`
	// MoreExamples is how many examples are left out.
	MoreExamples int `json:"moreExamples,omitempty"`
}

// Shorten keeps so many differences of an example, and counts the others.
func (d *Disagreement) Shorten(n int) {
	if len(d.Differences) > n {
		d.More += len(d.Differences) - n
		d.Differences = d.Differences[:n:n]
	}
}

// note counts a decision, and keeps it if it differs.
func (s *shadow) note(r *reconciliation, answers recorded, e enforced) {
	key, counts, decided := r.key, r.c.counts, r.result.Decision
	found := Disagreement{At: r.now, Key: key.String(), Undetermined: *answers.asked}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(answers.calls) > 0 {
		s.answers[key] = answers
	}
	s.counts.Evaluations++
	s.counts.Enforced = ""
	if e.by != nil {
		s.counts.Enforced = e.by.Policy.Revision
	}
	undetermined := found.Undetermined != ""
	differs := !undetermined && !slices.Equal(effectTexts(e.d), effectTexts(decided))
	if differs {
		found.Differences = differences(e.d, decided)
	}
	switch {
	case undetermined:
		s.counts.Undetermined++
		counts.Undetermined.Inc()
	case differs:
		s.counts.Disagreements++
		counts.Disagreements.Inc()
	}
	if differs {
		s.differs[key] = true
	} else {
		delete(s.differs, key)
	}
	counts.Disagreeing.Set(float64(len(s.differs)))
	s.keep(found, differs || undetermined)
}

// keep puts a difference among the examples, or says that it is no more.
func (s *shadow) keep(found Disagreement, differs bool) {
	at := slices.IndexFunc(s.examples, func(d Disagreement) bool { return d.Key == found.Key })
	switch {
	case at >= 0 && !differs:
		s.examples[at].Settled = true
		return
	case !differs:
		return
	case at >= 0:
		s.examples = slices.Delete(s.examples, at, at+1)
	case len(s.examples) >= maxExamples:
		s.examples = slices.Delete(s.examples, 0, 1)
	}
	found.Shorten(maxDifferences)
	for i, line := range found.Differences {
		if more := len(line) - maxDifference; more > 0 {
			found.Differences[i] = fmt.Sprintf("%s (and %d bytes more)", value.Cut(line, maxDifference), more)
		}
	}
	s.examples = append(s.examples, found)
}

// effectTexts writes what a decision does.
func effectTexts(d *eval.Decision) (out []string) {
	if d == nil {
		return nil
	}
	for _, e := range d.Effects {
		out = append(out, effectText(e))
	}
	return append(out, problemTexts(d)...)
}

func effectText(e *eval.Effect) string {
	out := effectTitle(e)
	if e.Patch != nil {
		if text, err := value.JSON(e.Patch); err == nil {
			out += " " + string(text)
		}
	}
	return out
}

// ShadowReport tells what the policy came to in the shadow; nil if it is
// enforced.
func (c *Controller) ShadowReport() *ShadowReport {
	s := c.shadow
	if s == nil || !c.InForce() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &ShadowReport{ShadowCounts: s.counts, Examples: slices.Clone(s.examples)}
	out.Policy, out.Revision, out.Differing = c.Policy.ID(), c.Policy.Revision, len(s.differs)
	slices.Reverse(out.Examples)
	return out
}
