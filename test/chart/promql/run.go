package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// run is what was scraped in the course of time, and the alerts to evaluate on it.
type run struct {
	Alerts []alert `json:"alerts"`
	// Every is the time between scrapes, and between evaluations, in seconds.
	Every   int        `json:"every"`
	Scrapes [][]sample `json:"scrapes"`
}

type alert struct {
	Name string `json:"alert"`
	Expr string `json:"expr"`
	For  string `json:"for"`
}

// sample is the value of one series in a scrape.
type sample struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// changes returns when alerts begin to fire and when they rest again, one a line.
func (r *run) changes(ctx context.Context) (out []string, err error) {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 20, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	defer engine.Close()
	series := r.series()
	querier := &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, by ...*labels.Matcher) storage.SeriesSet {
		return &selected{list: slices.DeleteFunc(slices.Clone(series), func(s storage.Series) bool { return !matches(s.Labels(), by) })}
	}}}
	for _, a := range r.Alerts {
		wait, err := time.ParseDuration(a.For)
		if err != nil {
			return nil, err
		}
		state := state{wait: wait, since: map[string]time.Time{}}
		for i := range r.Scrapes {
			query, err := engine.NewInstantQuery(ctx, querier, nil, a.Expr, r.at(i))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			vector, err := query.Exec(ctx).Vector()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			for _, change := range state.next(vector, r.at(i)) {
				out = append(out, fmt.Sprintf("%4d %s%s", i*r.Every/60, a.Name, change))
			}
			query.Close()
		}
	}
	slices.Sort(out)
	return out, nil
}

// state is that of an alert, by the labels of what its expression gave.
type state struct {
	wait  time.Duration
	since map[string]time.Time
}

// next takes over what the expression gives now, and returns what has changed.
func (s *state) next(vector promql.Vector, now time.Time) (changes []string) {
	holds := map[string]bool{}
	for _, one := range vector {
		name := one.Metric.String()
		holds[name] = true
		if s.since[name].IsZero() {
			s.since[name] = now
		}
		if now.Sub(s.since[name]) == s.wait {
			changes = append(changes, name+" fires")
		}
	}
	for name, since := range s.since {
		if holds[name] {
			continue
		}
		delete(s.since, name)
		if now.Sub(since) > s.wait {
			changes = append(changes, name+" rests")
		}
	}
	return changes
}

// at is the time of a scrape.
func (r *run) at(i int) time.Time {
	return time.Unix(1_800_000_000, 0).Add(time.Duration(i*r.Every) * time.Second)
}

// series returns what was scraped by series. One that a scrape lacks ends there, as in
// Prometheus.
func (r *run) series() (out []storage.Series) {
	samples, lists := map[string][]chunks.Sample{}, map[string]labels.Labels{}
	for i, scrape := range r.Scrapes {
		at, seen := r.at(i).UnixMilli(), map[string]bool{}
		for _, s := range scrape {
			list := labels.FromMap(s.Labels)
			name := list.String()
			lists[name], seen[name] = list, true
			samples[name] = append(samples[name], point{at, s.Value})
		}
		for name := range samples {
			if !seen[name] {
				samples[name] = append(samples[name], point{at, math.Float64frombits(value.StaleNaN)})
			}
		}
	}
	for name, list := range lists {
		out = append(out, storage.NewListSeries(list, samples[name]))
	}
	return out
}

func matches(list labels.Labels, by []*labels.Matcher) bool {
	return !slices.ContainsFunc(by, func(m *labels.Matcher) bool { return !m.Matches(list.Get(m.Name)) })
}

// selected is a storage.SeriesSet.
type selected struct {
	list []storage.Series
	next int
}

func (s *selected) Next() bool         { s.next++; return s.next <= len(s.list) }
func (s *selected) At() storage.Series { return s.list[s.next-1] }
func (*selected) Err() error           { return nil }

// Warnings implements storage.SeriesSet.
func (*selected) Warnings() annotations.Annotations { return nil }

// point is a sample with its time in milliseconds.
type point struct {
	at    int64
	value float64
}

func (p point) T() int64                    { return p.at }
func (point) ST() int64                     { return 0 }
func (p point) F() float64                  { return p.value }
func (point) H() *histogram.Histogram       { return nil }
func (point) FH() *histogram.FloatHistogram { return nil }
func (point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample         { return p }
