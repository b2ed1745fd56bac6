package extender

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// sent is what a server saw of a request.
type sent struct{ Method, URI, ContentType, Authorization, Body string }

// TestWhatIsSent compares requests byte by byte with the protocol.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	withNull := scoring2s("vg-1")
	withNull.Candidates = expr.CandidatesOf(candidates("vg-1")[0],
		value.FromMap(map[string]value.Value{"name": value.OfString("vg-2"), "thinPoolName": value.Null}),
		value.FromMap(map[string]value.Value{"name": value.OfString("vg-3"), "thinPoolName": value.None}),
		value.FromMap(map[string]value.Value{"name": value.OfString("vg-4"), "thinPoolName": value.Some(value.OfString("thin"))}),
		value.FromMap(map[string]value.Value{"name": value.OfString("vg-5"), "thinPoolName": value.OfString("")}))
	for name, tc := range map[string]struct {
		path      string // after the server's address
		request   *expr.Request
		uri, body string
	}{
		"scores": {
			"", scoring2s("vg-1", "vg-1/thin", "vg-2"), "/v1/lvg/filter-and-score",
			`{"reservationID":"pvc-1","reservationTTL":"2s","size":1073741824,"lvgs":[{"name":"vg-1"},{"name":"vg-1","thinPoolName":"thin"},{"name":"vg-2"}]}`,
		},
		"an absent thin pool in every form": {
			"", withNull, "/v1/lvg/filter-and-score",
			`{"reservationID":"pvc-1","reservationTTL":"2s","size":1073741824,"lvgs":[{"name":"vg-1"},{"name":"vg-2"},{"name":"vg-3"},{"name":"vg-4","thinPoolName":"thin"},{"name":"vg-5"}]}`,
		},
		"a confirmation": {
			"", narrowing1m("vg-1/thin"), "/v1/lvg/narrow-reservation",
			`{"reservationID":"pvc-1","reservationTTL":"1m0s","lvg":{"name":"vg-1","thinPoolName":"thin"}}`,
		},
		"a confirmation of a group": {
			"/", narrowing1m("vg-1"), "/v1/lvg/narrow-reservation",
			`{"reservationID":"pvc-1","reservationTTL":"1m0s","lvg":{"name":"vg-1"}}`,
		},
		"below a path": {
			"/base///", narrowing1m("vg-1"), "/base/v1/lvg/narrow-reservation",
			`{"reservationID":"pvc-1","reservationTTL":"1m0s","lvg":{"name":"vg-1"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got sent
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = sent{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(body)}
				_, _ = io.WriteString(w, `{"lvgs":[]}`)
			})
			if _, err := newClient(t, Config{URL: server.URL + tc.path}).Answer(t.Context(), tc.request); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sent{"POST", tc.uri, "application/json", "", tc.body}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestConfirmation: only the status counts, and there are no verdicts.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{}", "garbage", `{"error":"full"}`, `{"lvgs":[{"name":"vg-1","score":5}]}`, string(make([]byte, 3<<20))} {
		got, err := newClient(t, Config{URL: serve(t, answers(200, body)).URL}).Answer(t.Context(), narrowing1m("vg-1"))
		if err != nil || got.Verdicts != nil {
			t.Errorf("to %.40q: %v, %v", body, got, err)
		}
	}
}

// TestCannotBeAsked: such a request is not sent, and is no failure of the
// extender.
func TestCannotBeAsked(t *testing.T) {
	t.Parallel()
	with := func(r *expr.Request, field string, v value.Value) *expr.Request {
		r.With = r.With.With(field, v)
		return r
	}
	nameless := scoring2s("vg-1")
	nameless.Candidates = expr.CandidatesOf(candidates("vg-1")[0], value.Empty)
	thin := scoring2s("vg-1")
	thin.Candidates = expr.CandidatesOf(candidates("vg-1")[0].With("thinPoolName", value.OfInt(1)))
	server := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	client := newClient(t, Config{URL: server.URL})
	scripted, err := Scripted(nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, request := range map[string]*expr.Request{
		"no candidates to ask about":                   scoring2s(),
		"a confirmation is about one candidate, not 2": narrowing1m("a", "b"),
		"a candidate has no name":                      nameless,
		"thinPoolName must be of type string":          thin,
		"reservationID must be of type string":         with(scoring2s("a"), "reservationID", nil),
		"ttl must be of type duration":                 with(narrowing1m("a"), "ttl", value.OfString("2s")),
		"size must be of type int":                     with(scoring2s("a"), "size", value.OfString("1Gi")),
		`it does not answer "extender.somethingElse"`:  {Query: "extender.somethingElse"},
	} {
		for name, asked := range map[string]expr.Answerer{"client": client, "script": scripted} {
			_, err := asked.Answer(t.Context(), request)
			wantClass(t, err, ClassRequest)
			if err.Error() != "scheduler extender: "+want {
				t.Errorf("the %s says %v, not %s", name, err, want)
			}
		}
	}
	if _, err := client.Answer(t.Context(), narrowing1m()); err == nil || err.Error() != "scheduler extender: no candidates to ask about" {
		t.Errorf("got %v", err)
	}
}

// TestThroughTheSeam: a selection finds the client by the query's namespace.
func TestThroughTheSeam(t *testing.T) {
	t.Parallel()
	client := newClient(t, Config{URL: serve(t, answers(200, `{"lvgs":[{"name":"a","score":3}]}`)).URL, Timeout: time.Minute})
	got, err := expr.Answerers{"extender": client}.Answer(t.Context(), scoring2s("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]expr.Verdict{expr.Kept(3), expr.Dropped}, got.Verdicts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDeclarations: the queries ask for what the client reads.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	ttl, size := expr.Field{Name: "ttl", Type: expr.Duration}, expr.Field{Name: "size", Type: expr.Int}
	id := expr.Field{Name: "reservationID", Type: expr.String}
	candidate := []expr.Field{{Name: "name", Type: expr.String}, {Name: "thinPoolName", Type: expr.String, Optional: true}}
	want := []expr.Query{
		{Name: "extender.filterAndScore", With: []expr.Field{id, ttl, size}, Candidate: candidate, Scores: true},
		{Name: "extender.narrowReservation", With: []expr.Field{id, ttl}, Candidate: candidate},
	}
	got := Queries()
	for i := range got {
		if got[i].Doc == "" || got[i].Example == "" {
			t.Errorf("%s is not documented", got[i].Name)
		}
		got[i].Doc, got[i].Example = "", ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
