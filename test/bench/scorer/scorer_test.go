package scorer

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestAnswer: an answer has the groups with room, the highest score first.
func TestAnswer(t *testing.T) {
	t.Parallel()
	groups := make([]string, 100)
	for i := range groups {
		groups[i] = `{"name":"vg-` + strings.Repeat("x", i) + `"` + []string{"", `,"thinPoolName":"t"`}[i%2] + "}"
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://extender/", strings.NewReader(`{"size":1,"lvgs":[`+strings.Join(groups, ",")+"]}"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := New().RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Groups []struct {
			Name     string `json:"name"`
			ThinPool string `json:"thinPoolName"`
			Score    int    `json:"score"`
		} `json:"lvgs"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Groups) < 80 {
		t.Fatalf("%v: %s", err, body)
	}
	for i, g := range answer.Groups {
		if thin := (len(g.Name)-len("vg-"))%2 == 1; g.Score != scoreOf(g.Name) || thin != (g.ThinPool == "t") || i > 0 && g.Score > answer.Groups[i-1].Score {
			t.Errorf("entry %d is %v", i, g)
		}
	}
}

// TestPart: the answer about some groups is the same whether others were asked about
// before or not.
func TestPart(t *testing.T) {
	t.Parallel()
	groups := make([]string, 50)
	for i := range groups {
		groups[i] = `{"name":"vg-` + strings.Repeat("x", i) + `"}`
	}
	body := func(some ...string) []byte { return []byte(`{"size":1,"lvgs":[` + strings.Join(some, ",") + "]}") }
	for _, some := range [][]string{groups[:49], groups[1:], groups[10:20], append(groups[:5:5], groups[40:]...), groups[:1], groups[49:], append(groups[40:], groups[:5]...), {`{"name":"other"}`}} {
		before := New()
		before.answer(body(groups...))
		if got, want := string(before.answer(body(some...))), string(New().answer(body(some...))); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", some, got, want)
		}
	}
}

// TestUsed: the CPU time of answering is counted, but for requests that take less than
// the clock.
func TestUsed(t *testing.T) {
	t.Parallel()
	transport := New()
	ask := func(groups int) {
		t.Helper()
		body := `{"size":1,"lvgs":[` + strings.TrimSuffix(strings.Repeat(`{"name":"vg-1"},`, groups), ",") + "]}"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://extender/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	if ask(1); transport.Used != 0 {
		t.Errorf("a small request has taken %v", transport.Used)
	}
	if ask(1000); transport.Used <= 0 {
		t.Errorf("a large one has taken %v", transport.Used)
	}
}
