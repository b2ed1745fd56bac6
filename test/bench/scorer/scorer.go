// Package scorer is the scheduler extender of the benchmark: a transport without a
// network that reads a request and returns the bytes of the answer. Each answer is
// computed once, so that next to nothing of what is measured is the extender's work.
package scorer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"io"
	"net/http"
	"slices"
)

// Transport answers requests to score volume groups, and to narrow reservations. It
// is not safe for concurrent use.
type Transport struct {
	seed    maphash.Seed
	answers map[uint64][]byte
	body    bytes.Buffer
	// Calls counts the requests.
	Calls int
}

var _ http.RoundTripper = (*Transport)(nil)

// New makes a transport.
func New() *Transport { return &Transport{seed: maphash.MakeSeed(), answers: map[uint64][]byte{}} }

type entry struct {
	Name     string `json:"name"`
	ThinPool string `json:"thinPoolName,omitempty"`
	Score    int64  `json:"score,omitempty"`
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.Calls++
	t.body.Reset()
	if _, err := t.body.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	answer, err := t.answer(t.body.Bytes())
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)),
	}, nil
}

// answer returns the answer to a request: one computed before, if the same groups
// were asked about.
func (t *Transport) answer(body []byte) ([]byte, error) {
	from := bytes.Index(body, []byte(`"lvgs":`))
	if from < 0 {
		return []byte("{}"), nil // a reservation is narrowed
	}
	sum := maphash.Bytes(t.seed, body[from:])
	if known, ok := t.answers[sum]; ok {
		return known, nil
	}
	var request struct {
		Groups []entry `json:"lvgs"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("a request that cannot be decoded: %w", err)
	}
	text, err := json.Marshal(map[string]any{"lvgs": scored(request.Groups)})
	t.answers[sum] = text
	return text, err
}

// scored returns the groups with room, the highest score first.
func scored(groups []entry) []entry {
	kept := make([]entry, 0, len(groups))
	for _, g := range groups {
		if g.Score = scoreOf(g.Name); g.Score > 0 {
			kept = append(kept, g)
		}
	}
	slices.SortStableFunc(kept, func(a, b entry) int { return cmp.Compare(b.Score, a.Score) })
	return kept
}

// scoreOf returns a number from 1 to 10, and 0 for one group of 17.
func scoreOf(name string) int64 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	if h.Sum32()%17 == 0 {
		return 0
	}
	return int64(1 + h.Sum32()%10)
}
