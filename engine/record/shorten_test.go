package record_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/record"
)

// large returns a document with long lists; the candidate 900 won.
func large() *record.Document {
	d := &record.Document{Policy: "p", Rules: []record.RuleDocument{{Name: "few"}}, Selections: []record.SelectionDocument{{Rule: "r", Total: 1000}}}
	for n := range 1000 {
		name := fmt.Sprintf("n%03d", n)
		d.Reads = append(d.Reads, record.ReadDocument{ObjectDocument: record.ObjectDocument{Kind: "Node", Name: name}})
		d.Selections[0].Candidates = append(d.Selections[0].Candidates, record.CandidateDocument{Names: map[string]string{"node": name}})
		if n < 3 {
			d.Effects = append(d.Effects, record.EffectDocument{Rule: "r", Target: record.ObjectDocument{Name: name}})
			d.Rules[0].Items = append(d.Rules[0].Items, record.ItemDocument{Key: name})
		}
	}
	winner := 900
	d.Selections[0].Winner = &winner
	return d
}

// TestShorten: what is short stays whole, of what is long the first entries stay,
// with the winner and who is asked about, and what is left off is counted.
func TestShorten(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(large())
	if err != nil {
		t.Fatal(err)
	}
	d := large()
	if !d.Shorten(len(whole), "") || cmp.Diff(large(), d) != "" {
		t.Error("a document that is small enough was shortened")
	}
	for _, most := range []int{8 << 10, 16 << 10, 32 << 10, len(whole) - 1} {
		d := large()
		fits := d.Shorten(most, "n950")
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if !fits || len(text) > most {
			t.Errorf("at most %d: %d bytes, %v", most, len(text), fits)
		}
		s := d.Selections[0]
		want := []record.LeftOffDocument{{List: "reads", Count: 1000 - len(d.Reads)}, {List: "selections.candidates", Count: 1000 - len(s.Candidates)}}
		want = withoutZero(want)
		if diff := cmp.Diff(want, d.LeftOff); diff != "" || len(want) == 0 {
			t.Errorf("at most %d (-want +got):\n%s", most, diff)
		}
		if len(d.Effects) != 3 || len(d.Rules[0].Items) != 3 || len(d.Reads) > 0 && d.Reads[0].Name != "n000" || s.Total != 1000 {
			t.Errorf("at most %d: %d effects, %d items", most, len(d.Effects), len(d.Rules[0].Items))
		}
		if got := s.Candidates[*s.Winner].Names["node"]; got != "n900" || !strings.Contains(string(text), `"n950"`) {
			t.Errorf("at most %d: the winner is %s", most, got)
		}
	}
	if large().Shorten(100, "") {
		t.Error("what does not fit without its lists fits")
	}
}

func withoutZero(list []record.LeftOffDocument) (out []record.LeftOffDocument) {
	for _, one := range list {
		if one.Count > 0 {
			out = append(out, one)
		}
	}
	return out
}
