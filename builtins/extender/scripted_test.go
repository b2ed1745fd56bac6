package extender

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
)

type object = map[string]any

func TestScripts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script object
		ask    []string
		want   []int64 // 0: does not stay
	}{
		"nothing":                    {nil, []string{"a", "a/t"}, []int64{0, 0}},
		"by group":                   {object{"scores": object{"a": int64(3), "b": int64(5)}}, []string{"b", "a", "c"}, []int64{5, 3, 0}},
		"by thin pool":               {object{"scores": object{"a/t": int64(3)}}, []string{"a/t", "a", "a/u"}, []int64{3, 0, 0}},
		"a group is not for a pool":  {object{"scores": object{"a": int64(3)}}, []string{"a/t", "a"}, []int64{0, 3}},
		"a default":                  {object{"scores": object{"a": int64(3)}, "default": int64(1)}, []string{"a", "b", "a/t"}, []int64{3, 1, 1}},
		"an entry of 0 is no gap":    {object{"scores": object{"a": int64(0), "b": int64(-1)}, "default": int64(1)}, []string{"a", "b", "c"}, []int64{0, 0, 1}},
		"a default of less than 0":   {object{"default": int64(-1)}, []string{"a"}, []int64{0}},
		"numbers of every sort":      {object{"scores": object{"a": 3.0, "b": json.Number("4"), "c": 5}, "default": json.Number("6")}, []string{"a", "b", "c", "d"}, []int64{3, 4, 5, 6}},
		"the largest number":         {object{"default": int64(math.MaxInt64)}, []string{"a"}, []int64{math.MaxInt64}},
		"asked twice":                {object{"scores": object{"a": int64(3)}}, []string{"a", "a"}, []int64{3, 3}},
		"only confirmations fail":    {object{"default": int64(1), "narrowError": "gone"}, []string{"a"}, []int64{1}},
		"no error in an empty text":  {object{"default": int64(1), "error": ""}, []string{"a"}, []int64{1}},
		"more scores than asked for": {object{"scores": object{"x": int64(9), "a": int64(1)}}, []string{"a"}, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := Scripted(tc.script)
			if err != nil {
				t.Fatal(err)
			}
			got, err := asked.Answer(t.Context(), scoring2s(tc.ask...))
			if err != nil {
				t.Fatal(err)
			}
			want := make([]expr.Verdict, len(tc.want))
			for i, score := range tc.want {
				if score > 0 {
					want[i] = expr.Kept(score)
				}
			}
			if diff := cmp.Diff(want, got.Verdicts); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestScriptedFailures: each call has its own.
func TestScriptedFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script          object
		scoring, narrow string
	}{
		"none":         {object{"default": int64(1)}, "", ""},
		"scoring":      {object{"error": "unexpected status 503"}, "scheduler extender: unexpected status 503", ""},
		"confirmation": {object{"narrowError": "gone"}, "", "scheduler extender: gone"},
		"both":         {object{"error": "down", "narrowError": "gone"}, "scheduler extender: down", "scheduler extender: gone"},
	} {
		asked, err := Scripted(tc.script)
		if err != nil {
			t.Fatal(err)
		}
		for request, want := range map[*expr.Request]string{scoring2s("a"): tc.scoring, narrowing1m("a"): tc.narrow} {
			got, err := asked.Answer(t.Context(), request)
			if want == "" && (err != nil || request.Query == NarrowReservation && got.Verdicts != nil) {
				t.Errorf("%s: %s gives %v, %v", name, request.Query, got, err)
			} else if want != "" {
				wantClass(t, err, ClassScript)
				if err.Error() != want {
					t.Errorf("%s: %s gives %v", name, request.Query, err)
				}
			}
		}
	}
	asked, _ := Scripted(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := asked.Answer(ctx, scoring2s("a"))
	wantClass(t, err, ClassCanceled)
}

// TestWrongScripts: the error names the key.
func TestWrongScripts(t *testing.T) {
	t.Parallel()
	const number = "must be a whole number"
	for want, script := range map[string]object{
		"score: unknown field; there are scores, default, error and narrowError": {"score": object{}},
		"scores: must be an object of scores":                                    {"scores": []any{}},
		`scores: "a": ` + number:                                                 {"scores": object{"a": "5"}},
		`scores: "b": ` + number:                                                 {"scores": object{"a": 1, "b": 1.5}},
		`scores: "c": ` + number:                                                 {"scores": object{"c": nil}},
		`scores: "d": ` + number:                                                 {"scores": object{"d": math.NaN()}},
		`scores: "e": ` + number:                                                 {"scores": object{"e": json.Number("1e3")}},
		`scores: "f": ` + number:                                                 {"scores": object{"f": float64(1 << 63)}},
		`scores: "": must be <group> or <group>/<thin pool>`:                     {"scores": object{"": 1}},
		`scores: "a/": must be <group> or <group>/<thin pool>`:                   {"scores": object{"a/": 1}},
		`scores: "/t": must be <group> or <group>/<thin pool>`:                   {"scores": object{"/t": 1}},
		`scores: "a/t/u": must be <group> or <group>/<thin pool>`:                {"scores": object{"a/t/u": 1}},
		"default: " + number:                                                     {"default": true},
		"error: must be a string":                                                {"error": 503},
		"narrowError: must be a string":                                          {"narrowError": object{}},
		"scores: must be an object of":                                           {"scores": nil},
	} {
		if _, err := Scripted(script); err == nil || !strings.HasPrefix(err.Error(), "scheduler extender: "+want) {
			t.Errorf("%v gives %v, not %s", script, err, want)
		}
	}
}
