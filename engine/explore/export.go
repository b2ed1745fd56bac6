package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// exported is what a page in a file knows.
type exported struct {
	// Answers are those to the questions that the page may ask.
	Answers map[string]json.RawMessage `json:"answers"`
	// LeftOut says what is missing.
	LeftOut []string `json:"leftOut"`
	size    int
}

const (
	// maxExported bounds the answers of a page in a file, in bytes.
	maxExported = 32 << 20
	// exportedHorizon is how far its time goes, in seconds.
	exportedHorizon = "3600"
)

// Export writes one HTML file that needs nothing else: the page with the answers to
// what it may ask, as far as they fit.
func (w *World) Export(ctx context.Context, out io.Writer) error {
	e := &exported{Answers: map[string]json.RawMessage{}, LeftOut: []string{"moving the clock, changing params and asking why-not need edict explore to run"}}
	if err := w.gather(ctx, e); err != nil {
		return err
	}
	page, err := singleFile(e)
	if err != nil {
		return err
	}
	_, err = out.Write(page)
	return err
}

func (w *World) gather(ctx context.Context, e *exported) error {
	summary, err := w.Summary(ctx)
	if err != nil {
		return err
	}
	questions := []string{"world", "graph", "timeline?horizon=" + exportedHorizon}
	for _, p := range summary.Policies {
		questions = append(questions, "keys?policy="+p.Name, "text?policy="+p.Name)
	}
	if w.options.Against != nil {
		questions = append(questions, "compare?against=1")
		for _, p := range w.options.Against.Policies {
			questions = append(questions, "text?against=1&policy="+p.Name)
		}
	}
	for _, question := range questions {
		if err := w.put(ctx, e, question); err != nil {
			return err
		}
	}
	return w.gatherDecisions(ctx, e, summary)
}

// gatherDecisions adds the decisions about keys, of all policies by turns, until no
// more fit.
func (w *World) gatherDecisions(ctx context.Context, e *exported, summary *Summary) error {
	missing := 0
	for _, p := range summary.Policies {
		list, err := w.Keys(ctx, p.Name)
		if err != nil {
			return err
		}
		for i, key := range list.Keys {
			if e.size > maxExported {
				missing += len(list.Keys) - i
				break
			}
			for _, question := range w.aboutKey(p.Name, key.String()) {
				if err := w.put(ctx, e, question); err != nil {
					return err
				}
			}
		}
	}
	if missing > 0 {
		e.LeftOut = append(e.LeftOut, fmt.Sprintf("%d decisions did not fit into %d MB", missing, maxExported>>20))
	}
	return nil
}

func (w *World) aboutKey(policy, key string) []string {
	question := "key=" + key + "&policy=" + policy
	if w.options.Against == nil {
		return []string{"decision?" + question}
	}
	return []string{"decision?" + question, "decision?against=1&" + question}
}

// put adds the answer to a question, or what is wrong with it.
func (w *World) put(ctx context.Context, e *exported, question string) error {
	path, text, _ := strings.Cut(question, "?")
	query := url.Values{}
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		query.Set(name, value)
	}
	answer, err := w.Answer(ctx, path, query)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		answer = map[string]string{"error": err.Error()}
	}
	data, err := json.Marshal(answer) // with < written as \u003c
	e.Answers[question] = data
	e.size += len(data)
	return err
}

// exportedPolicy lets a page in a file run its own scripts, and load nothing.
const exportedPolicy = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

// modules are the scripts of the page, each before those that import it.
var modules = []string{"dom.js", "api.js", "list.js", "diff.js", "views.js", "candidates.js", "text.js", "time.js", "params.js", "revisions.js", "graph.js"}

// singleFile returns the page with its style, scripts and data in it. Modules name
// one another by an import map of data URLs.
func singleFile(e *exported) ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	read := func(name string) (text []byte) {
		if err == nil {
			text, err = embedded.ReadFile("web/" + name)
		}
		return text
	}
	imports := map[string]string{}
	for _, name := range modules {
		imports["explore/"+name] = "data:text/javascript;charset=utf-8," + url.PathEscape(string(bare(read(name))))
	}
	table, _ := json.Marshal(map[string]any{"imports": imports})
	head := fmt.Sprintf("<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n<style>\n%s</style>\n<script type=\"importmap\">%s</script>\n<script type=\"application/json\" id=\"data\">%s</script>\n",
		exportedPolicy, read("style.css"), table, data)
	page := slices.Concat(read("index.html"))
	page = bytes.Replace(page, []byte("<link rel=\"stylesheet\" href=\"style.css\">\n"), []byte(head), 1)
	script := slices.Concat([]byte("<script type=\"module\">\n"), bare(read("main.js")), []byte("</script>\n"))
	page = bytes.Replace(page, []byte("<script type=\"module\" src=\"main.js\"></script>\n"), script, 1)
	return page, err
}

// bare makes a module import others by names of the import map.
func bare(module []byte) []byte {
	return bytes.ReplaceAll(module, []byte(` from "./`), []byte(` from "explore/`))
}
