package simulate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Entry is something that happens at a time of a timeline.
type Entry struct {
	// At is counted from the start.
	At     Duration   `json:"at"`
	Apply  Object     `json:"apply,omitempty"`
	Delete *Reference `json:"delete,omitempty"`
	// Patch merges changes into an object; of one that is not there nothing is
	// changed.
	Patch Object `json:"patch,omitempty"`
	// Answers replaces the answers of builtins.
	Answers Object `json:"answers,omitempty"`
	Restart bool   `json:"restart,omitempty"`
	Stop    bool   `json:"stop,omitempty"`
	Start   bool   `json:"start,omitempty"`
	Fail    *Fault `json:"fail,omitempty"`

	answerer expr.Answerer
}

// Duration is a duration in its text form, such as 90s.
type Duration struct{ time.Duration }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("a duration is a text such as \"90s\": %s", text)
	}
	parsed, err := time.ParseDuration(s)
	d.Duration = parsed
	return err
}

// Reference names an object.
type Reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// ID returns the identity; only the kind if no object can have the name.
func (r Reference) ID() world.ID {
	id, _ := world.Identify(schema.GVK{APIVersion: r.APIVersion, Kind: r.Kind}, r.Namespace, r.Name)
	return id
}

// ParseTimeline reads a timeline.
func ParseTimeline(text []byte) ([]Entry, error) {
	raw, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("a timeline is a list of entries: %w", mismatch(err))
	}
	out := make([]Entry, len(entries))
	for i := range out {
		decoder := json.NewDecoder(bytes.NewReader(entries[i]))
		decoder.DisallowUnknownFields()
		decoder.UseNumber()
		if err := decoder.Decode(&out[i]); err != nil {
			return nil, fmt.Errorf("entry %d: %w; an entry of a timeline has at, and one of apply, patch, delete, answers, fail, restart, stop and start", i+1, mismatch(err))
		}
		if out[i].At.Duration < 0 {
			return nil, fmt.Errorf("at %v: times are counted from the start, and none is before it", out[i].At.Duration)
		}
		if err := out[i].complete(); err != nil {
			return nil, fmt.Errorf("at %v: %w", out[i].At.Duration, err)
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return int(a.At.Duration - b.At.Duration) })
	return out, nil
}

// mismatch returns an error that names the type of a value and the type that it must have.
func mismatch(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want := "of the type " + wrong.Type.Kind().String()
	switch wrong.Type.Kind() {
	case reflect.Map, reflect.Struct:
		want = "an object"
	case reflect.Slice:
		want = "a list"
	}
	return fmt.Errorf("%s is of the type %s, and has to be %s", cmp.Or(wrong.Field, "it"), wrong.Value, want)
}

// complete makes of what was read what is needed to let it happen.
func (e *Entry) complete() (err error) {
	if e.Apply != nil {
		e.Apply, _ = reread(e.Apply) // it was decoded from JSON
	}
	if e.Patch != nil {
		e.Patch, _ = reread(e.Patch)
	}
	if e.Fail != nil {
		err = e.Fail.Check()
	}
	if e.Answers != nil && err == nil {
		e.Answers, _ = reread(e.Answers)
		e.answerer, err = scripted(e.Answers)
	}
	return err
}

// Objects returns the objects that the entry applies or merges.
func (e *Entry) Objects() (out []Object) {
	for _, o := range []Object{e.Apply, e.Patch} {
		if o != nil {
			out = append(out, o)
		}
	}
	return out
}

// toJSON returns a text of YAML, read as manifests are, as JSON. JSON stays as it is: not
// all of it is YAML.
func toJSON(text []byte) ([]byte, error) {
	if json.Valid(text) {
		return text, nil
	}
	var problems document.Problems
	found := document.ParseUnbounded("", text, &problems)
	switch {
	case problems.Err() != nil:
		return nil, problems.Err()
	case len(found) == 0:
		return []byte("null"), nil
	case len(found) > 1:
		return nil, fmt.Errorf("line %d: there is a second document", found[1].Pos.Line)
	}
	return json.Marshal(found[0].Plain())
}

// reread returns an object with whole numbers as int64.
func reread(o Object) (Object, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return apiserver.Decode(text)
}

// Run settles the world, goes through the timeline, and then on to the end.
// A negative until means: until no work is left, ignoring deadlines that lie
// after the last entry of the timeline.
func (s *Simulation) Run(ctx context.Context, timeline []Entry, until time.Duration) {
	s.Settle(ctx)
	for len(timeline) > 0 {
		at := timeline[0].At.Duration
		if until >= 0 && at > until {
			break
		}
		moment := s.options.Start.Add(at)
		s.Advance(ctx, moment.Add(-1))
		if moment.After(s.clock) { // what is due at the instant comes after its entries
			s.clock = moment
		}
		for len(timeline) > 0 && timeline[0].At.Duration == at {
			timeline[0].happen(ctx, s)
			timeline = timeline[1:]
		}
		s.Settle(ctx)
		s.Advance(ctx, moment)
	}
	if until >= 0 {
		s.Advance(ctx, s.options.Start.Add(until))
	}
}

// happen lets an entry happen to a world.
func (e *Entry) happen(ctx context.Context, s *Simulation) {
	switch {
	case e.Apply != nil:
		s.Apply(e.Apply)
	case e.Patch != nil:
		if !s.Merge(e.Patch) {
			s.done.result.Missed = append(s.done.result.Missed, Missed{At: s.clock.UTC(), Target: targetOf(ID(e.Patch))})
		}
	case e.Delete != nil:
		s.Delete(e.Delete.ID())
	case e.Answers != nil:
		s.SetAnswers(e.answerer)
	case e.Fail != nil:
		s.Fail(*e.Fail)
	case e.Restart, e.Start:
		s.Restart(ctx)
	case e.Stop:
		s.Stop(ctx)
	}
}

// Merge merges changes into an object, as a JSON merge patch does, and reports
// whether the object is there.
func (s *Simulation) Merge(patch Object) bool {
	next := s.merged(patch)
	if next == nil {
		return false
	}
	s.Apply(next)
	return true
}

// Offer is Merge for a client that the API server may refuse: nobody changes an immutable
// field, or makes of an object what its CRD does not allow.
func (s *Simulation) Offer(patch Object) bool {
	next := s.merged(patch)
	if next == nil || s.server.objects.Refuses(next) != nil {
		return false
	}
	s.Apply(next)
	return true
}

// merged returns an object of the world with changes merged into it, nil if it is not
// there.
func (s *Simulation) merged(patch Object) Object {
	old := s.Get(ID(patch))
	if old == nil {
		return nil
	}
	next, err := apiserver.Merged(old, patch)
	if err != nil {
		return nil // both were decoded from JSON
	}
	return next
}

// Stop ends the controllers as a process does that is told to; the world goes
// on without them.
func (s *Simulation) Stop(ctx context.Context) {
	for _, c := range s.process.group.Controllers() {
		results, _ := c.Flush(ctx, s.clock) // what waits, as a controller does before it stops
		for _, f := range results {
			s.done.result.record(s.clock, item{c.Policy.ID(), f.Key}, f.Result)
		}
	}
	s.server.changed = func(world.ID, Object, Object) {}
	s.agenda.clear()
}
