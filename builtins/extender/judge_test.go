package extender

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
)

func TestJudging(t *testing.T) {
	t.Parallel()
	keep, out := expr.Kept, expr.Dropped
	for name, tc := range map[string]struct {
		body string
		ask  []string
		want []expr.Verdict
	}{
		"in the order of the request":     {`{"lvgs":[{"name":"b","score":2},{"name":"a","score":1}]}`, []string{"a", "b"}, []expr.Verdict{keep(1), keep(2)}},
		"without an entry":                {`{"lvgs":[{"name":"b","score":2}]}`, []string{"a", "b"}, []expr.Verdict{out, keep(2)}},
		"zero and less":                   {`{"lvgs":[{"name":"a","score":0},{"name":"b","score":-5}]}`, []string{"a", "b"}, []expr.Verdict{out, out}},
		"no score":                        {`{"lvgs":[{"name":"a"},{"name":"b","score":null}]}`, []string{"a", "b"}, []expr.Verdict{out, out}},
		"a group is not its thin pool":    {`{"lvgs":[{"name":"a","score":2}]}`, []string{"a/thin"}, []expr.Verdict{out}},
		"a thin pool is not its group":    {`{"lvgs":[{"name":"a","thinPoolName":"thin","score":2}]}`, []string{"a", "a/thin", "a/other"}, []expr.Verdict{out, keep(2), out}},
		"an empty thin pool is none":      {`{"lvgs":[{"name":"a","thinPoolName":"","score":2}]}`, []string{"a"}, []expr.Verdict{keep(2)}},
		"a null thin pool is none":        {`{"lvgs":[{"name":"a","thinPoolName":null,"score":2}]}`, []string{"a"}, []expr.Verdict{keep(2)}},
		"letters of names count":          {`{"lvgs":[{"name":"A","score":2}]}`, []string{"a"}, []expr.Verdict{out}},
		"nobody asked":                    {`{"lvgs":[{"name":"x","score":9},{"name":"a","score":2}]}`, []string{"a"}, []expr.Verdict{keep(2)}},
		"the first of several":            {`{"lvgs":[{"name":"a","score":3},{"name":"a","score":7}]}`, []string{"a"}, []expr.Verdict{keep(3)}},
		"the first, also of zero":         {`{"lvgs":[{"name":"a","score":0},{"name":"a","score":7}]}`, []string{"a"}, []expr.Verdict{out}},
		"asked twice":                     {`{"lvgs":[{"name":"a","score":3}]}`, []string{"a", "b", "a"}, []expr.Verdict{keep(3), out, keep(3)}},
		"not clamped":                     {`{"lvgs":[{"name":"a","score":9223372036854775807}]}`, []string{"a"}, []expr.Verdict{keep(math.MaxInt64)}},
		"the lowest score":                {`{"lvgs":[{"name":"a","score":-9223372036854775808}]}`, []string{"a"}, []expr.Verdict{out}},
		"no entries":                      {`{"lvgs":[]}`, []string{"a"}, []expr.Verdict{out}},
		"null entries":                    {`{"lvgs":null}`, []string{"a"}, []expr.Verdict{out}},
		"a null entry":                    {`{"lvgs":[null]}`, []string{"a"}, []expr.Verdict{out}},
		"an error beside the scores":      {`{"error":"full","lvgs":[{"name":"a","score":1}]}`, []string{"a"}, []expr.Verdict{keep(1)}},
		"an error that is no text":        {`{"error":{"code":5},"lvgs":[]}`, []string{"a"}, []expr.Verdict{out}},
		"unknown fields":                  {`{"lvgs":[{"name":"a","score":1,"node":"n"}],"x":[1]}`, []string{"a"}, []expr.Verdict{keep(1)}},
		"the field twice: the last":       {`{"lvgs":[{"name":"a","score":1}],"lvgs":[{"name":"b"}]}`, []string{"a", "b"}, []expr.Verdict{out, out}},
		"the field twice: the last, null": {`{"lvgs":[{"name":"a","score":1}],"lvgs":null}`, []string{"a"}, []expr.Verdict{out}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, Config{URL: serve(t, answers(200, tc.body)).URL})
			got, err := client.Answer(t.Context(), scoring2s(tc.ask...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Verdicts); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestUndecodable(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing": "", "a text": "it works", "HTML": "<html>secret</html>", "cut off": `{"lvgs":[{"name":"a"`, "something behind it": `{"lvgs":[]}{}`,
		"a list": `[]`, "a number": `5`, "entries that are none": `{"lvgs":{}}`, "an entry that is none": `{"lvgs":["a"]}`,
		"a fraction": `{"lvgs":[{"name":"a","score":1.5}]}`, "a whole float": `{"lvgs":[{"name":"a","score":1.0}]}`,
		"too large": `{"lvgs":[{"name":"a","score":1e30}]}`, "just too large": `{"lvgs":[{"name":"a","score":9223372036854775808}]}`,
		"a score as a text": `{"lvgs":[{"name":"a","score":"secret"}]}`, "a score for a pool nobody asked about": `{"lvgs":[{"name":"a","score":1},{"name":"x","score":true}]}`,
		"no field of entries": `{}`, "null": `null`, "an error alone": `{"error":"full"}`,
		"a name that is none": `{"lvgs":[{"name":1,"score":1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, Config{URL: serve(t, answers(200, body)).URL})
			got, err := client.Answer(t.Context(), scoring2s("a"))
			wantClass(t, err, ClassDecode)
			if got != nil || !strings.HasPrefix(err.Error(), "scheduler extender: undecodable response: ") || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestManyEntries: an answer takes no memory for entries that nobody asked
// about, and may not have any number of them.
func TestManyEntries(t *testing.T) {
	few := `{"lvgs":[` + strings.Repeat(`{},`, spare) + `{"name":"a","score":7}]}`
	scores, err := decode([]byte(few), []pool{{Name: "a"}})
	if err != nil || len(scores) != 1 || scores[pool{Name: "a"}] != 7 {
		t.Errorf("got %v, %v", scores, err)
	}
	many := []byte(`{"lvgs":[` + strings.Repeat(`{},`, 700_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = decode(many, []pool{{Name: "a"}})
	runtime.ReadMemStats(&after)
	wantClass(t, err, ClassDecode)
	if !strings.Contains(err.Error(), "it has more than 1004 entries") {
		t.Errorf("got %v", err)
	}
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 8 {
		t.Errorf("%d MiB were allocated for %d", allocated, len(many)>>20)
	}
}

// FuzzJudge: whatever a server answers, no candidate stays that the answer
// does not name with a positive score.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		`{"lvgs":[{"name":"a","score":5},{"name":"a","thinPoolName":"t","score":3}]}`, `{"lvgs":[{"name":"a","score":5}],"lvgs":[{"name":"b"}]}`,
		`{"lvgs":null}`, `{"LVGS":[{"Name":"a","SCORE":1}]}`, `[]`, ``, `{"lvgs":[{"name":"b","name":"a","score":-1,"score":2}]}`, `{"lvgs":[{"name":"a","score":1e3}]}`,
		`{"lvgs":[{"name":"a","score":5,"score":null}]}`, `{"lvgs":[{"name":"a","score":5}],"Lvgs":[{"thinPoolName":"t","score":1}]}`,
	} {
		f.Add([]byte(seed), "a", "t")
	}
	f.Add([]byte(`{"lvgs":[{"score":1}]}`), "", "t")
	f.Fuzz(func(t *testing.T, body []byte, name, thin string) {
		if name == "" { // no request is made of a candidate without a name
			t.Skip()
		}
		asked := []pool{{Name: name}, {Name: name, ThinPool: thin}}
		checkQuick(t, body, asked)
		checkQuick(t, body, append(asked, asked...))
		scores, err := decode(body, asked)
		if err != nil {
			wantClass(t, err, ClassDecode)
			return
		}
		for i, verdict := range judge(asked, scores) {
			if verdict.Keep() != (verdict.Score() > 0) {
				t.Fatalf("a verdict contradicts itself: %v", verdict)
			}
			if verdict.Keep() && !names(body, asked[i], verdict.Score()) {
				t.Fatalf("%v stays with the score %d by %s", asked[i], verdict.Score(), body)
			}
		}
	})
}

// checkQuick compares what is read quickly, if it is, with what is read carefully.
func checkQuick(t *testing.T, body []byte, asked []pool) (quick bool) {
	t.Helper()
	got, quick := (&question{catalog: catalogOf(t, asked)}).quickly(body)
	if !quick {
		return false
	}
	scores, err := decode(body, asked)
	if err != nil {
		t.Fatalf("%s is read quickly, and otherwise refused: %v", body, err)
	}
	if diff := cmp.Diff(judge(asked, scores), got); diff != "" {
		t.Fatalf("%s (- carefully, + quickly):\n%s", body, diff)
	}
	return true
}

// TestQuickly: what extenders write is read quickly, and as carefully as anything
// else; what they do not write is not.
func TestQuickly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	quick := 0
	for range 5000 {
		var entries []string
		for range r.IntN(4) {
			entries = append(entries, "{"+pick(`"name":"a"`, `"name":"b"`, `"name":"c"`, `"name":"\u0061"`, `"Name":"a"`, `"name":1`, `"name":""`)+
				pick("", "", `,"thinPoolName":"t"`, `,"thinPoolName":""`, `,"thinPoolName":null`)+
				pick(`,"score":5`, `,"score":10 `, `,"score":-3`, `,"score":0`, `,"score":07`, `,"score":1.0`, `,"score":-`, `,"score":9223372036854775807`, `,"score":1e3`, "", `,"score":3,"score":4`)+"}")
		}
		body := []byte(`{` + pick("", "", `"error":"full",`) + `"lvgs":[` + strings.Join(entries, pick(",", " , ")) + "]" + pick("", "", `,"lvgs":[]`) + "}" + pick("", "", "\n", "x"))
		if checkQuick(t, body, []pool{{Name: "a"}, {Name: "b"}, {Name: "a", ThinPool: "t"}, {Name: "a"}}) {
			quick++
		}
	}
	if quick < 300 {
		t.Errorf("%d answers were read quickly", quick)
	}
}

// scoreRequest is the body that asks for scores.
type scoreRequest struct {
	ReservationID string `json:"reservationID"`
	TTL           string `json:"reservationTTL"`
	Size          int64  `json:"size"`
	Pools         []pool `json:"lvgs"`
}

// TestBody: a request is written as encoding/json writes it.
func TestBody(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "vg-1_x.y", "<&>", "q\"b\\", "ä", "\u2028", "\x00\x7f", "\xff"} {
		pools := []pool{{Name: "a" + text}, {Name: "b", ThinPool: text}}
		want, err := json.Marshal(scoreRequest{ReservationID: text, TTL: "2s", Size: -5, Pools: pools})
		if err != nil {
			t.Fatal(err)
		}
		one, err := json.Marshal(struct {
			ReservationID string `json:"reservationID"`
			TTL           string `json:"reservationTTL"`
			Pool          pool   `json:"lvg"`
		}{text, "2s", pools[1]})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(one), string((&narrowRequest{ID: text, TTL: 2 * time.Second, Pool: pools[1]}).body())); diff != "" {
			t.Errorf("confirming %q (- encoding/json, + here):\n%s", text, diff)
		}
		q := &question{catalog: catalogOf(t, pools)}
		got, err := io.ReadAll(q.body(&reservation{ID: text, TTL: 2 * time.Second, Size: -5}).open())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%q (- encoding/json, + here):\n%s", text, diff)
		}
	}
}

// names reports whether an answer has an entry with these values. It reads the
// text member by member, apart from the decoder under test, and takes any of
// several values that a field has.
func names(body []byte, p pool, score int64) bool {
	for _, list := range members(body, "lvgs") {
		var entries []json.RawMessage
		_ = json.Unmarshal(list, &entries) // another one may be the list
		for _, entry := range entries {
			if has(entry, "name", p.Name) && has(entry, "thinPoolName", p.ThinPool) && has(entry, "score", score) {
				return true
			}
		}
	}
	return false
}

// members returns every value that an object has under a name, of which the
// decoder ignores the case.
func members(object []byte, name string) (out []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		var v json.RawMessage
		if err != nil || decoder.Decode(&v) != nil {
			return out
		}
		if text, _ := key.(string); strings.EqualFold(text, name) {
			out = append(out, v)
		}
	}
	return out
}

// has reports whether a field of an object has a value; every one has the zero
// value.
func has[T comparable](object []byte, field string, want T) bool {
	if want == *new(T) {
		return true
	}
	for _, text := range members(object, field) {
		var v T
		if json.Unmarshal(text, &v) == nil && v == want {
			return true
		}
	}
	return false
}
