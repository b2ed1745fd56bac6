package live

import (
	"net/http"
	"strconv"
	"time"
)

// limits bound what answers take of the controller.
type limits struct {
	// bytes is the size of an answer, atOnce how many are made and sent at a time.
	bytes, atOnce int
}

// sending bounds how long an answer is sent: one who reads slowly must not keep
// others waiting.
const sending = 30 * time.Second

// handler answers within limits.
type handler struct {
	current func() (Controllers, bool)
	limits  limits
	// slots has an entry for each answer that is being made or sent.
	slots chan struct{}
}

// answerer makes an answer.
type answerer func(*http.Request, Controllers) (*response, error)

// response is an answer that has been made.
type response struct {
	contentType string
	text        []byte
}

func newHandler(current func() (Controllers, bool), l limits) http.Handler {
	h := &handler{current: current, limits: l, slots: make(chan struct{}, l.atOnce)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, h.serve(h.question(h.document)))
	mux.HandleFunc("GET "+CapturePath, h.serve(h.question(h.test)))
	mux.HandleFunc("GET "+AnswersPath, h.serve(h.calls))
	mux.HandleFunc("GET "+WritesPath, h.serve(h.writes))
	return mux
}

// serve answers unless too many ask: they are to ask again, as what waits would
// take memory too.
func (h *handler) serve(build answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many ask this controller at once: ask again in a second", http.StatusTooManyRequests)
			return
		}
		h.answer(w, r, build)
	}
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, build answerer) {
	controllers, ok := h.current()
	if !ok {
		http.Error(w, "this process does not lead: ask the one that does", http.StatusServiceUnavailable)
		return
	}
	out, err := build(r, controllers)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	h.send(w, out)
}

// send sends an answer whole: the time for it must not be that of what comes next on
// the connection.
func (h *handler) send(w http.ResponseWriter, out *response) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(sending)) // not all writers have one
	w.Header().Set("Content-Type", out.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(out.text)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(out.text) // one who goes away needs no answer
	_ = control.Flush()
	_ = control.SetWriteDeadline(time.Time{})
}
