package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
)

// Path is where decisions are served: GET /decisions?policy=P&namespace=N&name=X,
// with about=NAME to be told about something of that name too, and lastWrite=true for
// the last decision that wrote something. CapturePath serves the same decision as a
// policy test, of the policy file that policies=FILE names, and with revision=R only if
// that is the one by which it was made. AnswersPath serves the calls of builtins of the
// decisions that are kept, as record.Calls, the oldest first. WritesPath serves the
// writes of an object in these decisions, as Writes: ?apiVersion=V&kind=K&namespace=N&name=X.
const (
	Path        = "/decisions"
	CapturePath = "/decisions/capture"
	AnswersPath = "/decisions/calls"
	WritesPath  = "/decisions/writes"
)

// Controllers are what a Handler answers from.
type Controllers struct {
	// Log has the records of the last decisions.
	Log *record.Log
	// Group has the controllers of the policies that run.
	Group *reconcile.Group
	Guard guard.Guard
}

// Handler serves the decisions of the controllers that current returns; false is
// that this process does not run any, because another one leads. An answer has at
// most 16 MiB, and two are made at a time: they must not take the memory and the time
// of the policies.
func Handler(current func() (Controllers, bool)) http.Handler {
	return newHandler(current, limits{bytes: 16 << 20, atOnce: 2})
}

var (
	errNoPolicy = errors.New("no such policy runs")
	errNoKey    = errors.New("there is no such object")
	errNoWrite  = errors.New("no decision of it that wrote something is kept any more")
	errTooLarge = errors.New("the answer would be too large")
	errRevision = errors.New("another revision of the policy decides now")
)

func statusOf(err error) int {
	switch {
	case errors.Is(err, errNoPolicy), errors.Is(err, errNoKey), errors.Is(err, errNoWrite):
		return http.StatusNotFound
	case errors.Is(err, capture.ErrNotAlone), errors.Is(err, errRevision):
		return http.StatusConflict
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusInternalServerError
	}
}

// query is what is asked for.
type query struct {
	record *record.Record
	// write is an earlier decision that wrote something; nil is none.
	write    *record.Record
	about    string
	policies []string
	// revision is the one by which the decision has to be made; "" is any.
	revision string
	schemas  *schema.Set
	guard    guard.Guard
}

// question returns what answers a request about one decision.
func (h *handler) question(build func(context.Context, *query) (*response, error)) answerer {
	return func(r *http.Request, c Controllers) (*response, error) {
		q, err := c.query(r)
		if err != nil {
			return nil, err
		}
		return build(r.Context(), q)
	}
}

// calls returns those of the decisions that are kept, without those of policies that
// read values of Secrets. When there are too many the oldest are left off.
func (h *handler) calls(_ *http.Request, c Controllers) (*response, error) {
	out := record.Calls{Calls: []record.CallDocument{}}
	room := h.limits.bytes - len(`{"calls":[]}`)
	for _, r := range c.Log.Records() {
		calls := r.Calls()
		text, err := json.Marshal(calls)
		if err != nil {
			return nil, err
		}
		if room -= len(text); room < 0 {
			break
		}
		out.Calls = slices.Insert(out.Calls, 0, calls...)
	}
	text, err := json.Marshal(out)
	return &response{"application/json", text}, err
}

// Writes is the answer of WritesPath.
type Writes struct {
	// Since is the time of the oldest decision that is kept, zero if there is none.
	Since  time.Time              `json:"since"`
	Writes []record.WriteDocument `json:"writes"`
}

func (h *handler) writes(r *http.Request, c Controllers) (*response, error) {
	v := r.URL.Query()
	writes, since := c.Log.Writes(record.ObjectDocument{APIVersion: v.Get("apiVersion"), Kind: v.Get("kind"), Namespace: v.Get("namespace"), Name: v.Get("name")})
	text, err := json.Marshal(Writes{since, writes})
	return &response{"application/json", text}, err
}

func (c Controllers) query(r *http.Request) (*query, error) {
	values := r.URL.Query()
	key := eval.Key{Namespace: values.Get("namespace"), Name: values.Get("name")}
	kept, err := c.decision(r.Context(), values.Get("policy"), key, values.Get("lastWrite") == "true")
	if err != nil {
		return nil, err
	}
	write := c.Log.LastWrite(kept.Inputs.Policy.ID(), kept.Inputs.Key)
	if write == kept {
		write = nil
	}
	return &query{record: kept, write: write, about: values.Get("about"), policies: values["policies"], revision: values.Get("revision"), schemas: c.Group.Schemas(), guard: c.Guard}, nil
}

// decision returns the record of the last decision about a key, or of one that is
// made now.
func (c Controllers) decision(ctx context.Context, policy string, key eval.Key, write bool) (*record.Record, error) {
	one, err := c.decides(policy, key)
	if err != nil {
		return nil, err
	}
	key = KeyOf(c.Group.Schemas(), one.Policy, key)
	if !one.Watches(key) {
		return nil, fmt.Errorf("%w: the labels of %s %s do not match the --watch-label-selector of this controller, so another installation decides about it; ask that one", errNoKey, one.Policy.Primary.Kind, key)
	}
	if r := c.Log.LastWrite(one.Policy.ID(), key); write && r != nil {
		return r, nil
	} else if write {
		return nil, errNoWrite
	}
	if r := c.Log.Last(one.Policy.ID(), key); r != nil && r.Inputs.Policy.Revision == one.Policy.Revision {
		return r, nil
	}
	return fresh(ctx, one, key)
}

// KeyOf returns the key of an object that a policy decides about: without a namespace if its kind is in none.
func KeyOf(schemas *schema.Set, p *plan.Policy, key eval.Key) eval.Key {
	if r, known := schemas.Resource(p.Primary.GVK); known && !r.Namespaced {
		key.Namespace = ""
	}
	return key
}

// decides returns the controller that decides about a key by a policy, which may be
// named by a document of which it is the only one.
func (c Controllers) decides(policy string, key eval.Key) (only *reconcile.Controller, err error) {
	var names, kinds []string
	for _, one := range c.Group.Controllers() {
		names = append(names, one.Policy.ID())
		switch {
		case !one.Policy.Named(policy) || !one.Decides(key):
		case one.Policy.ID() == policy:
			return one, nil
		default:
			only, kinds = one, append(kinds, one.Policy.ID())
		}
	}
	switch hint := document.DidYouMean(policy, names); {
	case len(kinds) == 1:
		return only, nil
	case len(kinds) > 1:
		return nil, fmt.Errorf("%w: %q is a policy for each of several kinds: name one of %s", errNoPolicy, policy, strings.Join(kinds, ", "))
	case hint != "":
		return nil, fmt.Errorf("%w: %q; %s", errNoPolicy, policy, hint)
	}
	return nil, fmt.Errorf("%w: %q", errNoPolicy, policy)
}

// fresh decides about a key now. Nothing is written, and no builtin is called.
func fresh(ctx context.Context, c *reconcile.Controller, key eval.Key) (*record.Record, error) {
	r := c.Look(ctx, key, time.Now(), expr.NoAnswers{})
	if !r.Exists() {
		return nil, fmt.Errorf("%w: %s %s", errNoKey, c.Policy.Primary.Kind, key)
	}
	return r, nil
}

func (h *handler) document(ctx context.Context, q *query) (*response, error) {
	answer := Answer{Kind: q.record.Inputs.Policy.Primary.Kind, Decision: q.record.RenderAbout(ctx, q.about)}
	if q.write != nil {
		answer.LastWrite = explain.Sentence(answer.Kind, q.write.Render(ctx))
	}
	if !answer.Decision.Shorten(h.limits.bytes, q.about) {
		return nil, fmt.Errorf("%w: more than %d bytes, without its lists; look at the decision with edict explain -f on the objects of the cluster", errTooLarge, h.limits.bytes)
	}
	text, err := json.Marshal(answer)
	return &response{"application/json", append(text, '\n')}, err
}

// Answer is what Path serves.
type Answer struct {
	// Kind is that of the objects that the policy decides about.
	Kind     string           `json:"kind"`
	Decision *record.Document `json:"decision"`
	// LastWrite is the sentence of an earlier decision that wrote something.
	LastWrite string `json:"lastWrite,omitempty"`
}

func (h *handler) test(ctx context.Context, q *query) (*response, error) {
	if now := q.record.Inputs.Policy.Revision; q.revision != "" && q.revision != now {
		return nil, fmt.Errorf("%w: %s, not %s", errRevision, now, q.revision)
	}
	if q.record.SeesValues() {
		return nil, fmt.Errorf("%w: the policy reads values of Secrets", capture.ErrNotAlone)
	}
	text, err := capture.Test(ctx, q.record, capture.Options{Policies: q.policies, Schemas: q.schemas, Guard: q.guard})
	if err == nil && len(text) > h.limits.bytes {
		err = fmt.Errorf("%w: the test has %d bytes, at most %d are sent; capture the decision with edict capture -f on the objects of the cluster", errTooLarge, len(text), h.limits.bytes)
	}
	return &response{"application/yaml", text}, err
}
