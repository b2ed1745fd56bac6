package explore

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
)

//go:embed web
var embedded embed.FS

// web are the files of the page.
var web = func() fs.FS {
	sub, err := fs.Sub(embedded, "web")
	if err != nil {
		panic(err)
	}
	return sub
}()

// Token returns a random text that nobody guesses.
func Token() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// contentPolicy lets the page load its own files, and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page below /TOKEN/ and answers its questions below /TOKEN/api/.
// It only answers GET requests that name a loopback address as their host, with the
// token in the path, and none that another site makes.
func (w *World) Handler(token string) http.Handler {
	files := http.FileServerFS(web)
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		secure(out.Header())
		rest, status := admit(r, token)
		switch {
		case status != 0:
			http.Error(out, http.StatusText(status), status)
		case rest == "":
			http.Redirect(out, r, "/"+token+"/", http.StatusFound)
		case strings.HasPrefix(rest, "/api/"):
			w.serve(out, r, strings.TrimPrefix(rest, "/api/"))
		default:
			own := r.Clone(r.Context())
			own.URL.Path, own.URL.RawPath = rest, ""
			files.ServeHTTP(out, own)
		}
	})
}

func secure(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// admit returns the path after the token, or the status with which a request is
// refused.
func admit(r *http.Request, token string) (rest string, status int) {
	first, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if found {
		rest = "/" + rest
	}
	switch {
	case !loopback(r.Host):
		return "", http.StatusMisdirectedRequest
	case r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+r.Host:
		return "", http.StatusForbidden
	case !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site")):
		return "", http.StatusForbidden
	case subtle.ConstantTimeCompare([]byte(first), []byte(token)) != 1:
		return "", http.StatusForbidden
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return "", http.StatusMethodNotAllowed
	}
	return rest, 0
}

// loopback reports whether a host of a request is this machine: a name that
// somebody else's DNS answers with a loopback address is not.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (w *World) serve(out http.ResponseWriter, r *http.Request, path string) {
	answer, err := w.Answer(r.Context(), path, r.URL.Query())
	out.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err != nil {
		out.WriteHeader(statusOf(err))
		answer = map[string]string{"error": err.Error()}
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer) // the page has gone
}

func statusOf(err error) int {
	if _, ok := errors.AsType[*NotFoundError](err); ok {
		return http.StatusNotFound
	}
	return http.StatusUnprocessableEntity
}
