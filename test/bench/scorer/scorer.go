// Package scorer is the scheduler extender of the benchmark: a transport without a
// network that reads a request and returns the bytes of the answer. Each answer is
// computed once, so that next to nothing of what is measured is the extender's work.
package scorer

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"io"
	"net/http"
	"strings"
)

// Transport answers requests to score volume groups, and to narrow reservations. It
// is not safe for concurrent use.
type Transport struct {
	seed    maphash.Seed
	answers map[uint64][]byte
	// entries are by what requests say of a group.
	entries map[string]entry
	body    bytes.Buffer
	// Calls counts the requests.
	Calls int
}

var _ http.RoundTripper = (*Transport)(nil)

// New makes a transport.
func New() *Transport {
	return &Transport{seed: maphash.MakeSeed(), answers: map[uint64][]byte{}, entries: map[string]entry{}}
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
	answer := t.answer(t.body.Bytes())
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)),
	}, nil
}

// answer returns the answer to a request: one computed before, if the same groups
// were asked about.
func (t *Transport) answer(body []byte) []byte {
	from := bytes.Index(body, []byte(`"lvgs":`))
	if from < 0 {
		return []byte("{}") // a reservation is narrowed
	}
	sum := maphash.Bytes(t.seed, body[from:])
	if known, ok := t.answers[sum]; ok {
		return known
	}
	text := t.compose(body[from:])
	t.answers[sum] = text
	return text
}

// compose puts an answer together of entries that were written before, the highest
// score first: its work is part of what is measured, so it has to be little.
func (t *Transport) compose(groups []byte) []byte {
	var byScore [maxScore + 1][]byte
	for {
		_, rest, more := bytes.Cut(groups, []byte(`{"name":"`))
		if !more {
			break
		}
		end := bytes.IndexByte(rest, '}')
		known, ok := t.entries[string(rest[:end])]
		if !ok {
			known = newEntry(string(rest[:end]))
			t.entries[string(rest[:end])] = known
		}
		byScore[known.score] = append(byScore[known.score], known.text...)
		groups = rest[end:]
	}
	out := []byte(`{"lvgs":[`)
	for score := maxScore; score > 0; score-- {
		out = append(out, byScore[score]...)
	}
	return append(bytes.TrimSuffix(out, []byte(",")), "]}"...)
}

// entry is what the answer says of a group, with a comma behind it.
type entry struct {
	score int
	text  []byte
}

// newEntry makes the entry of a group of which the request says this.
func newEntry(group string) entry {
	name, _, _ := strings.Cut(group, `"`)
	score := scoreOf(name)
	return entry{score: score, text: fmt.Appendf(nil, `{"name":"%s,"score":%d},`, group, score)}
}

const maxScore = 10

// scoreOf returns a number from 1 to 10, and 0 for one group of 17.
func scoreOf(name string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	if h.Sum32()%17 == 0 {
		return 0
	}
	return 1 + int(h.Sum32()%maxScore)
}
