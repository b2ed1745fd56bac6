package intake

import (
	"encoding/json"
	"os"

	"github.com/edict-dev/edict/test/bench/measure"
)

// per is the number of objects that figures are for.
const per = 10_000

// report is what was measured, for 10,000 objects.
type report struct {
	Kinds     []kindRow     `json:"kinds"`
	Decisions []decisionRow `json:"decisions"`
	// Records is how many bytes the records of the last decisions hold.
	Records float64 `json:"records_bytes"`
	// Whole is all objects of the world, with the garbage collector.
	Whole wholeRow `json:"whole"`
}

// kindRow is the steps of a kind.
type kindRow struct {
	Title string `json:"title"`
	// JSON is how many bytes the objects have as JSON.
	JSON   float64      `json:"json_bytes"`
	Decode measure.Cost `json:"decode"`
	Store  measure.Cost `json:"store"`
	Map    measure.Cost `json:"map"`
	Typed  handRow      `json:"typed"`
	Loose  handRow      `json:"unstructured"`
}

// handRow is the steps of a cache of client-go.
type handRow struct {
	Decode measure.Cost `json:"decode"`
	Store  measure.Cost `json:"store"`
}

// decisionRow is the first decision of a key of a policy, out of that of all keys.
type decisionRow struct {
	Policy string       `json:"policy"`
	Keys   int          `json:"keys"`
	Key    measure.Cost `json:"key"`
}

// wholeRow is everything taken in, not scaled.
type wholeRow struct {
	Objects int          `json:"objects"`
	Edict   measure.Cost `json:"edict"`
	Typed   measure.Cost `json:"typed"`
	Loose   measure.Cost `json:"unstructured"`
}

// sum returns the steps together.
func (k kindRow) sum() measure.Cost { return sum(k.Decode, k.Store, k.Map) }

func sum(costs ...measure.Cost) (out measure.Cost) {
	for _, c := range costs {
		out.CPU, out.Allocs, out.Bytes, out.Live = out.CPU+c.CPU, out.Allocs+c.Allocs, out.Bytes+c.Bytes, out.Live+c.Live
	}
	return out
}

// newReport makes a report of what a run has seen. The pools are not in it, but for the
// whole: they are few.
func newReport(r *run, s sizes) *report {
	out := &report{Records: r.median("records").Live, Whole: wholeRow{Edict: r.median("edict"), Typed: r.median("typed"), Loose: r.median("loose")}}
	for _, k := range r.kinds {
		out.Whole.Objects += k.n
	}
	for _, k := range s.kinds() {
		share := per / float64(k.n)
		of := func(step string) measure.Cost { return r.median(k.name + "/" + step).Times(share) }
		out.Kinds = append(out.Kinds, kindRow{
			Title: k.title, JSON: share * float64(len(r.texts[k.name].all)), Decode: of("decode"), Store: of("store"), Map: of("map"),
			Typed: handRow{of("typed/decode"), of("typed/store")}, Loose: handRow{of("loose/decode"), of("loose/store")},
		})
	}
	for _, p := range policies {
		out.Decisions = append(out.Decisions, decisionRow{p, r.keys[p], r.median(p).Times(1 / float64(r.keys[p]))})
	}
	return out
}

func (r *run) median(name string) measure.Cost { return measure.Median(r.seen[name]) }

// write writes the figures as JSON.
func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
