package explore

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// UsageError says that a question cannot be understood.
type UsageError struct{ text string }

// Error implements error.
func (e *UsageError) Error() string { return e.text }

// Answer answers a question of the page: a path with a query.
//
//	world                               what there is
//	keys?policy=P                       its keys, each with a state
//	decision?policy=P&key=K             a decision; with run=1, after=SECONDS, about=NAME,
//	                                    against=1, set=PARAM=VALUE; or with record=ID
//	                                    of the timeline
//	text?policy=P                       the text; with against=1
//	timeline?horizon=SECONDS            what happens when the policies run
//	compare?policy=P&set=PARAM=VALUE    what params change; with against=1 what the
//	                                    edit changes
//	graph                               what policies read and write
func (w *World) Answer(ctx context.Context, path string, query url.Values) (any, error) {
	q, err := question(query)
	if err != nil {
		return nil, err
	}
	switch path {
	case "world":
		return w.Summary(ctx)
	case "keys":
		return w.Keys(ctx, q.Policy)
	case "decision":
		return w.Decide(ctx, q)
	case "text":
		return w.Text(q.Policy, q.Variant.Against)
	case "timeline":
		horizon, err := seconds(query, "horizon")
		if err != nil {
			return nil, err
		}
		return w.Timeline(ctx, cmp.Or(horizon, DefaultHorizon))
	case "compare":
		return w.Compare(ctx, q.Variant, q.Clock.After)
	case "graph":
		return w.Graph(), nil
	}
	return nil, &NotFoundError{What: fmt.Sprintf("there is nothing at %q", path)}
}

func question(query url.Values) (q Question, err error) {
	q.Policy, q.About, q.Record = query.Get("policy"), query.Get("about"), query.Get("record")
	q.Variant = Variant{Against: query.Get("against") == "1", Policy: q.Policy}
	q.Clock.Run = query.Get("run") == "1"
	q.Key.Name = query.Get("key")
	if namespace, name, ok := strings.Cut(q.Key.Name, "/"); ok {
		q.Key = eval.Key{Namespace: namespace, Name: name}
	}
	for _, set := range query["set"] {
		name, text, ok := strings.Cut(set, "=")
		if !ok {
			return q, &UsageError{fmt.Sprintf("set must be PARAM=VALUE: %q", set)}
		}
		if q.Variant.Params == nil {
			q.Variant.Params = map[string]string{}
		}
		q.Variant.Params[name] = text
	}
	q.Clock.After, err = seconds(query, "after")
	return q, err
}

// maxSeconds is the farthest that the clock goes: ten years.
const maxSeconds = 10 * 365 * 24 * 3600

func seconds(query url.Values, name string) (time.Duration, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= maxSeconds) {
		return 0, &UsageError{fmt.Sprintf("%s must be seconds from 0 to %d: %q", name, maxSeconds, text)}
	}
	return time.Duration(n * float64(time.Second)), nil
}
