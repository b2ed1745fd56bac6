package extender

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// candidatesOf makes candidates of so many pools; each second one is a thin pool, and
// some names have to be escaped.
func candidatesOf(n int) expr.Candidates { return expr.CandidatesOf(mapsOf(n)...) }

func mapsOf(n int) []*value.Map {
	out := make([]*value.Map, n)
	for i := range out {
		fields := map[string]value.Value{"name": value.OfString(fmt.Sprintf("vg-%03d%s", i/2, []string{"", "", "<é>"}[i/2%3]))}
		if i%2 == 1 {
			fields["thinPoolName"] = value.OfString("thin")
		}
		out[i] = value.FromMap(fields)
	}
	return out
}

// catalogOf returns the catalog of candidates that name pools.
func catalogOf(t *testing.T, pools []pool) *catalog {
	t.Helper()
	names, thin := make([]value.Value, len(pools)), make([]value.Value, len(pools))
	for i, p := range pools {
		names[i] = value.OfString(p.Name)
		if p.ThinPool != "" {
			thin[i] = value.OfString(p.ThinPool)
		}
	}
	c, err := newCatalog(expr.Candidates{Of: value.NewRows([]string{fieldName, fieldThinPool}, [][]value.Value{names, thin})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// some returns some of the candidates in their order; sometimes as other objects.
func some(r *rand.Rand, all expr.Candidates, share float64) expr.Candidates {
	out, anew := expr.Candidates{Of: all.Of, Some: []int32{}}, r.IntN(3) == 0
	for i := range all.Len() {
		if r.Float64() <= share {
			out.Some = append(out.Some, int32(all.Row(i)))
		}
	}
	if anew {
		var maps []*value.Map
		for _, m := range out.All() {
			maps = append(maps, m)
		}
		return expr.CandidatesOf(maps...)
	}
	return out
}

// answerOf answers about some pools in an order of its own, and sometimes with entries
// nobody asked about, or twice.
func answerOf(r *rand.Rand, pools []pool, shuffle bool) []byte {
	entries := make([]entry, 0, len(pools))
	for i, p := range pools {
		if r.IntN(10) > 0 {
			entries = append(entries, entry{p, int64(r.IntN(100) - 10)})
		}
		if r.IntN(100) == 0 {
			entries = append(entries, entry{pool{Name: fmt.Sprint("other-", i)}, 5}, entry{p, 7})
		}
	}
	if shuffle {
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	}
	body, err := json.Marshal(map[string]any{"lvgs": entries})
	if err != nil {
		panic(err)
	}
	return body
}

// TestCatalogs: whatever was asked and answered before, a request is written as
// encoding/json writes it, and an answer is read as it would be by itself.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var known catalogs
	all, others := candidatesOf(300), candidatesOf(90)
	most := some(r, all, 0.7)
	for step := range 600 {
		candidates := all
		switch r.IntN(7) {
		case 0:
			candidates = some(r, all, 0.99)
		case 1:
			candidates = some(r, all, r.Float64())
		case 2:
			candidates = others
		case 3:
			maps := mapsOf(90)
			r.Shuffle(len(maps), func(i, j int) { maps[i], maps[j] = maps[j], maps[i] })
			candidates = expr.CandidatesOf(maps...)
		case 4:
			candidates = most
		case 5:
			candidates = some(r, most, r.Float64())
		}
		if candidates.Len() == 0 {
			continue
		}
		q, err := known.question(candidates)
		if err != nil {
			t.Fatal(err)
		}
		pools, err := poolsOf(nil, candidates)
		if err != nil {
			t.Fatal(err)
		}
		sameBody(t, q, pools)
		body := answerOf(r, pools, step/100%2 == 1)
		scores, err := decode(body, pools)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.verdicts(body)
		if diff := cmp.Diff(judge(pools, scores), got); err != nil || diff != "" {
			t.Fatalf("step %d, %v (- by itself, + after others):\n%s", step, err, diff)
		}
	}
	if n := len(known.last()); n > mostKept {
		t.Errorf("%d catalogs are kept", n)
	}
}

func sameBody(t *testing.T, q *question, pools []pool) {
	t.Helper()
	want, err := json.Marshal(scoreRequest{ReservationID: "r", TTL: "2s", Size: 7, Pools: pools})
	if err != nil {
		t.Fatal(err)
	}
	body := q.body(&reservation{ID: "r", TTL: 2 * time.Second, Size: 7})
	for range 2 { // it can be sent again
		got, err := io.ReadAll(body.open())
		if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" || body.size != int64(len(want)) {
			t.Fatalf("%v, %d bytes (- encoding/json, + here):\n%s", err, body.size, diff)
		}
	}
}

// TestExpected: an answer in the order of the last one is read without looking for any
// of its entries.
func TestExpected(t *testing.T) {
	t.Parallel()
	candidates := expr.CandidatesOf(slices.DeleteFunc(mapsOf(2000), func(c *value.Map) bool { return strings.Contains(value.StringAt(c, "name"), "<") })...)
	var known catalogs
	q, err := known.question(candidates)
	if err != nil {
		t.Fatal(err)
	}
	body := answerOf(rand.New(rand.NewPCG(2, 2)), q.asked(), true)
	for range 2 {
		if _, ok := q.quickly(body); !ok {
			t.Fatal("it is not read quickly")
		}
	}
	if again, err := known.question(candidates); err != nil || again.catalog != q.catalog {
		t.Errorf("the catalog is not used again (%v)", err)
	}
	g := newGuess(q, &notes{})
	for _, e := range entriesOf(t, body) {
		if at := q.catalog.find([]byte(e.Name), []byte(e.ThinPool)); at >= 0 {
			g.came(at)
		}
	}
	if g.missed > 60 { // the entries that stand there twice
		t.Errorf("%d of %d entries are not expected", g.missed, candidates.Len())
	}
}

func entriesOf(t *testing.T, body []byte) []entry {
	t.Helper()
	var answer struct {
		Pools []entry `json:"lvgs"`
	}
	if err := json.NewDecoder(strings.NewReader(string(body))).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Pools
}

// TestNamesThatAreNoText: two names of which JSON says the same are two pools.
func TestNamesThatAreNoText(t *testing.T) {
	t.Parallel()
	q := &question{catalog: catalogOf(t, []pool{{Name: "\xff"}, {Name: "\ufffd"}})}
	for _, body := range []string{`{"lvgs":[{"name":"\ufffd","score":3}]}`, "{\"lvgs\":[{\"name\":\"\ufffd\",\"score\":3}]}"} {
		got, err := q.verdicts([]byte(body))
		if diff := cmp.Diff([]expr.Verdict{expr.Dropped, expr.Kept(3)}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
}

// TestKept: a catalog that is used again counts once, and the last used stay.
func TestKept(t *testing.T) {
	t.Parallel()
	var known catalogs
	ofPools := func(n int) *catalog { return &catalog{of: expr.CandidatesOf(make([]*value.Map, n)...)} }
	large, small := ofPools(poolsKept*6/10), ofPools(poolsKept*3/10)
	for _, c := range []*catalog{large, small, large, small, large} {
		known.keep(c)
	}
	if list := known.last(); len(list) != 2 || list[0] != large || list[1] != small {
		t.Errorf("%d catalogs are kept", len(list))
	}
	known.keep(ofPools(poolsKept))
	if n := len(known.last()); n != 1 {
		t.Errorf("%d catalogs are kept beside a very large one", n-1)
	}
}

// TestConcurrentAnswers: requests about the same candidates do not disturb each other.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	candidates := candidatesOf(500)
	pools, err := poolsOf(nil, candidates)
	if err != nil {
		t.Fatal(err)
	}
	var known catalogs
	for worker := range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 50 {
				q, err := known.question(candidates)
				if err != nil {
					t.Fatal(err)
				}
				body := answerOf(r, pools, true)
				scores, err := decode(body, pools)
				if err != nil {
					t.Fatal(err)
				}
				got, err := q.verdicts(body)
				if diff := cmp.Diff(judge(pools, scores), got); err != nil || diff != "" {
					t.Fatalf("%v\n%s", err, diff)
				}
			}
		})
	}
}
