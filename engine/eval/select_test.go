package eval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// shelves is a Widget with places to choose from: shelves with boxes.
const shelves = `{kind: Widget, metadata: {name: w}, spec: {taken: [b], shelves: [
  {name: b, row: "1", boxes: [{id: b1, size: 5}]},
  {name: a, row: "1", broken: true, boxes: [{id: a1, size: 1}, {id: a2, size: 9}]},
  {name: d, row: "", boxes: []},
  {name: c, row: "2", boxes: [{id: c2, size: 3}, {id: c1, size: 3}]}]}}`

// answering is a fake answerer: it scores a box by its size and refuses those
// below 2; refused names are errors.
type answering struct{ refused string }

func (a answering) Answer(_ context.Context, r *expr.Request) (*expr.Response, error) {
	if a.refused != "" && strings.HasSuffix(r.Query, a.refused) {
		return nil, errors.New("no answer")
	}
	out := &expr.Response{}
	for _, c := range r.Candidates.All() {
		verdict := expr.Dropped
		if name := value.StringAt(c, "name"); name != "a1" {
			verdict = expr.Kept(int64(len(name)))
		}
		out.Verdicts = append(out.Verdicts, verdict)
	}
	return out, nil
}

// chosen decides with a pipeline, staged, plainly and with a trace, which must
// agree, and returns what the annotation says.
func chosen(t *testing.T, selection string, answers expr.Answerer) string {
	t.Helper()
	b := newBench(t, `
  rules:
    - name: choose
      do:
        - select:
            candidates:
              - {as: shelf, in: object.spec.shelves, orderBy: [shelf.name]}
              - {as: box, in: shelf.boxes}
            summary: "${total} boxes"
`+selection+`
            then: [{annotations: {set: {chosen: "${box.id} ${score} (${summary})"}}}]
            otherwise: [{annotations: {set: {chosen: "nobody (${summary})"}}}]
`, shelves)
	in := eval.Input{Policy: b.policy, Key: eval.Key{Name: "w"}, World: b.store.Snapshot(), Now: now, Answers: answers}
	traced := in
	traced.Details = &eval.Details{}
	plain := outcome(eval.Plain(t.Context(), in))
	for name, d := range map[string]*eval.Decision{"staged": eval.Evaluate(t.Context(), in, nil), "traced": eval.Evaluate(t.Context(), traced, nil)} {
		if diff := cmp.Diff(plain, outcome(d)); diff != "" {
			t.Errorf("%s differs (-plain +%s):\n%s", name, name, diff)
		}
	}
	return plain
}

func outcome(d *eval.Decision) string {
	var out []string
	for _, e := range d.Effects {
		out = append(out, value.StringAt(e.Patch, "metadata", "annotations", "chosen"))
	}
	for _, p := range d.Problems {
		text := p.Err.Error()
		out = append(out, "failed: "+text[strings.Index(text, ": ")+2:])
	}
	return strings.Join(out, "; ")
}

func TestSelect(t *testing.T) {
	t.Parallel()
	pipeline := func(steps ...string) string { return "            pipeline: [" + strings.Join(steps, ", ") + "]" }
	const ask = `{call: extender.filterAndScore, name: no room, with: {reservationID: r, ttl: "${duration('1s')}", size: "${1}"}, candidate: {name: "${box.id}"}}`
	for name, test := range map[string]struct{ selection, want string }{
		"no steps: the first as they come":          {pipeline(), "a1 0 (5 boxes)"},
		"a filter, counted under its name":          {pipeline(`{filter: broken, keep: "!has(shelf.broken)"}`), "b1 0 (5 boxes; 2 excluded: broken)"},
		"filters in order, each of what is left":    {pipeline(`{filter: broken, keep: "!has(shelf.broken)"}`, `{filter: small, keep: "box.size > 3"}`), "b1 0 (5 boxes; 2 excluded: broken; 2 excluded: small)"},
		"a filter that drops nobody is not told":    {pipeline(`{filter: broken, keep: "true"}`), "a1 0 (5 boxes)"},
		"a set":                                     {pipeline(`{filter: taken, keep: "!(shelf.name in object.spec.taken)"}`), "a1 0 (5 boxes; 1 excluded: taken)"},
		"a step that is switched off":               {pipeline(`{filter: none, when: size(object.spec.taken) == 0, keep: "false"}`), "a1 0 (5 boxes)"},
		"nobody is left":                            {pipeline(`{filter: none, keep: "false"}`, `{filter: more, keep: "box.gone"}`), "nobody (5 boxes; 5 excluded: none)"},
		"points":                                    {pipeline(`{score: size, points: box.size}`), "a2 9 (5 boxes)"},
		"points that depend on both":                {pipeline(`{score: taken, points: "shelf.name in object.spec.taken ? 7 : box.size"}`), "a2 9 (5 boxes)"},
		"points may be negative":                    {pipeline(`{score: size, points: -box.size}`), "a1 -1 (5 boxes)"},
		"points per group":                          {pipeline(`{score: many, groupBy: shelf.name, points: "size(members) > 1 ? 5 : 0"}`, `{filter: broken, keep: "!has(shelf.broken)"}`), "c2 5 (5 boxes; 2 excluded: broken)"},
		"points per group of what is left":          {pipeline(`{filter: a1, keep: box.id != "a1"}`, `{score: many, groupBy: shelf.name, points: "size(members) * 5"}`), "c2 10 (5 boxes; 1 excluded: a1)"},
		"different values of a group":               {pipeline(`{score: rows, groupBy: shelf.row, points: "countDistinct(members, m, m.shelf.name)"}`), "a1 2 (5 boxes)"},
		"a group as a list":                         {pipeline(`{score: sum, groupBy: shelf.name, points: "members.map(m, m.box.size).sum()"}`), "a1 10 (5 boxes)"},
		"the best tier":                             {pipeline(`{prefer: box.size / 4, name: small}`), "a2 0 (5 boxes; 4 excluded: small)"},
		"a tier with several":                       {pipeline(`{prefer: "box.size < 4 ? 1 : 0"}`), "a1 0 (5 boxes; 2 excluded: not preferred)"},
		"order decides among equals":                {pipeline() + "\n            orderBy: [-box.size, box.id]", "a2 0 (5 boxes)"},
		"order only among the best":                 {pipeline(`{score: row, points: "shelf.row == '2' ? 1 : 0"}`) + "\n            orderBy: [box.id]", "c1 1 (5 boxes)"},
		"an answer drops and sets the score":        {pipeline(`{score: before, points: "100"}`, ask, `{score: after, points: box.size}`), "a2 11 (5 boxes; 1 excluded: no room)"},
		"a failing expression":                      {pipeline(`{filter: size, keep: box.weight > 1}`), `failed: the field or key "weight" is absent (read it with .? or [?...] where it may be)`},
		"a failing expression on what was dropped":  {pipeline(`{filter: whole, keep: has(shelf.broken)}`, `{filter: broken, keep: shelf.broken}`), "a1 0 (5 boxes; 3 excluded: whole)"},
		"a failing expression that another decides": {pipeline(`{filter: any, keep: "shelf.broken || true"}`), "a1 0 (5 boxes)"},
		"a score that is too large":                 {pipeline(`{score: a, points: "9223372036854775807"}`, `{score: b, points: "1"}`), "failed: the score does not fit into 64 bits"},
		"several": {pipeline() + `
            take: {weight: box.size, budget: "13"}`, "a2 0 (5 boxes; 3 excluded: budget)"},
		"a weight of less than nothing": {pipeline() + `
            take: {weight: 4 - box.size, budget: "13"}`, `failed: the weight of shelf "a", box {"id":"a2","size":9} is -5; a weight is a finite number of at least 0`},
		"a weight that is no number": {pipeline() + `
            take: {weight: "0.0 / double(box.size - 5)", budget: "13"}`, `failed: the weight of shelf "b", box {"id":"b1","size":5} is NaN; a weight is a finite number of at least 0`},
		"a weight without end": {pipeline() + `
            take: {weight: "1.0 / double(box.size - 5)", budget: "13", max: "1"}`, `failed: the weight of shelf "a", box {"id":"a1","size":1} is -0.25; a weight is a finite number of at least 0`},
		"a weight of another type": {pipeline() + `
            take: {weight: box.id, budget: "13"}`, `failed: this gives string, not a number`},
		"a weight that is absent": {pipeline() + `
            take: {weight: box.weight, budget: "13"}`, `failed: the field or key "weight" is absent (read it with .? or [?...] where it may be)`},
		"a budget that is no number": {pipeline() + `
            take: {budget: "0.0 / 0.0"}`, `failed: the budget is not a number`},
		"max of another type": {pipeline() + `
            take: {max: "object.spec.taken[0]"}`, `failed: this gives string, not a whole number`},
		"claims of an item do not hinder itself": {pipeline(`{filter: claimed, keep: "!(box.id in claimed)"}`) + "\n            claim: box.id", "a1 0 (5 boxes)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := chosen(t, test.selection, answering{}); got != test.want {
				t.Errorf("want %s\ngot  %s", test.want, got)
			}
		})
	}
}

// TestSelectAgain: a selection without a candidate after a call dropped some is made again
// within a minute. One that only watched objects decide about waits for them.
func TestSelectAgain(t *testing.T) {
	t.Parallel()
	const ask = `{call: extender.filterAndScore, with: {reservationID: r, ttl: "${duration('1s')}", size: "${1}"}, candidate: {name: "${box.id}"}}`
	const only = `{filter: only, keep: box.id == "a1"}`
	for pipeline, again := range map[string]time.Duration{
		only + ", " + ask:                    time.Minute,
		ask + `, {filter: f, keep: "false"}`: time.Minute,
		`{filter: f, keep: "false"}, ` + ask: 0,
		`{filter: f, keep: box.id == "a2"}, ` + ask + `, {filter: f, keep: "false"}`: 0,
		ask: 0,
	} {
		b := newBench(t, `
  rules:
    - name: choose
      do:
        - select:
            candidates: [{as: shelf, in: object.spec.shelves}, {as: box, in: shelf.boxes}]
            summary: ""
            pipeline: [`+pipeline+`]
            otherwise: [{annotations: {set: {chosen: nobody}}}]
`, shelves)
		in := eval.Input{Policy: b.policy, Key: eval.Key{Name: "w"}, World: b.store.Snapshot(), Now: now, Answers: answering{}}
		for _, d := range []*eval.Decision{eval.Evaluate(t.Context(), in, nil), eval.Plain(t.Context(), in)} {
			if again > 0 != d.Refused || d.Refused && !d.Next.Equal(now.Add(again)) || !d.Refused && !d.Next.IsZero() {
				t.Errorf("%s: next %v, refused %v", pipeline, d.Next, d.Refused)
			}
		}
	}
}

// TestSelectFails shows what becomes of an item when nobody answers: the
// step's own onError, and the claim that stays.
func TestSelectFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
  rules:
    - name: choose
      forEach: "[1, 2]"
      as: turn
      do:
        - annotations: {set: {"lost-${turn}": x}}
        - select:
            candidates: [{as: shelf, in: object.spec.shelves, orderBy: [shelf.name]}]
            summary: "${total}"
            pipeline:
              - {filter: claimed, keep: "!(shelf.name in claimed)"}
              - call: extender.filterAndScore
                with: {reservationID: r, ttl: "${duration('1s')}", size: "${1}"}
                candidate: {name: "${shelf.name}"}
                onError: [{annotations: {set: {"asked-${turn}": "${error.message}"}}}]
            claim: shelf.name
            confirm:
              call: extender.narrowReservation
              with: {reservationID: r, ttl: "${duration('1s')}"}
              candidate: {name: "${shelf.name}"}
              onError: [{annotations: {set: {"confirm-${turn}": "${shelf.name}"}}}]
            then: [{annotations: {set: {"chosen-${turn}": "${shelf.name}"}}}]
`, shelves)
	for refused, want := range map[string]map[string]any{
		"filterAndScore":    {"asked-1": "no answer", "asked-2": "no answer"},
		"narrowReservation": {"confirm-1": "a", "confirm-2": "b"},
		"nothing":           {"lost-1": "x", "lost-2": "x", "chosen-1": "a", "chosen-2": "b"},
	} {
		in := eval.Input{Policy: b.policy, Key: eval.Key{Name: "w"}, World: b.store.Snapshot(), Now: now, Answers: answering{refused: refused}}
		for _, d := range []*eval.Decision{eval.Evaluate(t.Context(), in, nil), eval.Plain(t.Context(), in)} {
			got := map[string]any{}
			for _, e := range d.Effects {
				m, _ := value.Plain(value.Path(e.Patch, "metadata", "annotations")).(map[string]any)
				for k, v := range m {
					text := fmt.Sprint(v)
					got[k] = text[strings.LastIndex(text, ": ")+1:]
					got[k] = strings.TrimSpace(fmt.Sprint(got[k]))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s refused (-want +got):\n%s", refused, diff)
			}
			if failed := refused != "nothing"; failed != (len(d.Problems) == 2) {
				t.Errorf("%s refused: %v", refused, d.Problems)
			}
		}
	}
}

// TestSelectTrace shows what the trace says of each candidate.
func TestSelectDetails(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
  rules:
    - name: choose
      do:
        - select:
            candidates: [{as: shelf, in: object.spec.shelves}]
            summary: ""
            pipeline:
              - {filter: broken, keep: "!has(shelf.broken)"}
              - {score: row, points: size(shelf.row)}
              - {score: boxes, points: size(shelf.boxes)}
            orderBy: [shelf.name]
            then: [{log: {message: "${shelf.name}"}}]
`, shelves)
	details := &eval.Details{}
	eval.Evaluate(t.Context(), eval.Input{Policy: b.policy, Key: eval.Key{Name: "w"}, World: b.store.Snapshot(), Now: now, Details: details}, nil)
	var got []string
	for _, c := range details.Rules[0].Selections[0].Candidates {
		got = append(got, fmt.Sprint(value.NameOf(c.Values[0]), c.Excluded, c.Points, c.Score, c.Rank, c.Won))
	}
	want := []string{"b[{row 1} {boxes 1}] 2 2 false", "abroken[] 0 0 false", "d[{row 0} {boxes 0}] 0 3 false", "c[{row 1} {boxes 2}] 3 1 true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
