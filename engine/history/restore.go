package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/source"
)

// ErrSame means that the text of a revision is the present one.
var ErrSame = errors.New("its text is the present one")

// decides is the hash of what a policy's text decides by, without the values
// for its params; "" if the text does not hold the policy.
func decides(file, text, policy string, modules []rego.Module) string {
	doc := find(file, text, policy)
	if doc == nil {
		return ""
	}
	return compile.Revision(doc, modules, nil)
}

// decides is the hash of what the entry's text decides by.
func (e *Entry) decides() string {
	u := e.Unit()
	if u == nil {
		return ""
	}
	return compile.Revision(u.Document, u.Modules, nil)
}

// SameText reports whether another entry has the same text, perhaps with other values
// for its params.
func (e *Entry) SameText(other *Entry) bool {
	text := e.decides()
	return text != "" && text == other.decides()
}

// present is the hash of what the policy decides by as the ConfigMap has it
// now; "" if it is not in the entry's key.
func (e *Entry) present(data map[string]string) string {
	file := path.Dir(e.File)
	return decides(e.File, data[e.Key()], e.Policy, source.ModulesOf(file, e.Key(), data))
}

// Before returns the revision before the one that a ConfigMap holds now: the
// newest that was in force and decides by another text. The list has the oldest
// first.
func Before(list []*Entry, data map[string]string) (*Entry, error) {
	for _, e := range slices.Backward(list) {
		if was := e.Result == Active || e.Result == Stopped; was && e.decides() != e.present(data) {
			return e, nil
		}
	}
	return nil, errors.New("there is no earlier revision that was in force")
}

// Restore returns what has to change in the data of the ConfigMap so that the
// policy is as it was in the entry; nil means that a key is removed. Other
// policies in the same key stay as they are, unless the key cannot be read. The
// error is ErrSame if nothing has to change.
func (e *Entry) Restore(data map[string]string) (map[string]*string, error) {
	if e.decides() == "" {
		return nil, errors.New("the kept text no longer holds the policy")
	}
	if e.decides() == e.present(data) {
		return nil, ErrSame
	}
	text, err := e.merged(data[e.Key()])
	if err != nil {
		return nil, err
	}
	out := map[string]*string{}
	put := func(key, text string) {
		if now, ok := data[key]; !ok || now != text {
			out[key] = &text
		}
	}
	put(e.Key(), text)
	for name, module := range e.Modules {
		put(path.Base(name), module)
	}
	for _, m := range source.ModulesOf(path.Dir(e.File), e.Key(), data) {
		if _, had := e.Modules[m.Name]; !had {
			out[path.Base(m.Name)] = nil
		}
	}
	return out, nil
}

// merged is the text of the key with the policy as it was.
func (e *Entry) merged(now string) (string, error) {
	before, after := documents(e.Text), documents(now)
	was, is := documentOf(e.File, e.Text, e.Policy), documentOf(e.File, now, e.Policy)
	if is != "" && is != was {
		return "", fmt.Errorf("it was in the document %q, and the policy is in the document %q now: change that by hand", was, is)
	}
	if !readable(e.File, now) || len(inside(e.File, now)) <= 1 && len(inside(e.File, e.Text)) <= 1 {
		return e.Text, nil
	}
	from := index(before, e.File, was)
	if from < 0 {
		return "", fmt.Errorf("the kept text of %s cannot be cut into documents", e.Key())
	}
	_, body := separator(before[from])
	at := index(after, e.File, was)
	if at < 0 {
		return strings.TrimRight(now, "\n") + "\n---\n" + body, nil
	}
	line, _ := separator(after[at])
	after[at] = line + strings.TrimRight(body, "\n") + "\n"
	return strings.Join(after, ""), nil
}

func readable(file, text string) bool {
	_, problems := load.Documents(file, []byte(text))
	return len(problems) == 0
}

// documentOf returns the name that a policy has in its document; "" if it is not in the
// text.
func documentOf(file, text, policy string) string {
	doc := find(file, text, policy)
	if doc == nil {
		return ""
	}
	return cmp.Or(doc.Of, policy)
}

// inside returns the names of the documents in a text.
func inside(file, text string) (names []string) {
	found, _ := load.Documents(file, []byte(text))
	for _, doc := range found.Policies {
		names = append(names, cmp.Or(doc.Of, doc.Metadata.Name.Value))
	}
	return slices.Compact(names)
}

func index(parts []string, file, document string) int {
	return slices.IndexFunc(parts, func(part string) bool { return slices.Contains(inside(file, part), document) })
}

// documents cuts a file before each line that separates documents. Such a line
// cannot be part of a document: text in one is indented.
func documents(text string) (out []string) {
	begin, at := 0, 0
	for line := range strings.Lines(text) {
		if at > begin && separates(line) {
			out, begin = append(out, text[begin:at]), at
		}
		at += len(line)
	}
	return append(out, text[begin:])
}

func separates(line string) bool {
	rest, found := strings.CutPrefix(line, "---")
	return found && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}

// separator cuts off the line before a document.
func separator(part string) (line, body string) {
	if at := strings.IndexByte(part, '\n'); at >= 0 && separates(part[:at+1]) {
		return part[:at+1], part[at+1:]
	}
	return "", part
}

// Values writes the values for params that the revision had, for a person.
func (e *Entry) Values() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(e.Overrides)) {
		o := e.Overrides[name]
		text := o.Text
		if raw, err := json.Marshal(o.Value); o.Value != nil && err == nil {
			text = string(raw)
		}
		out = append(out, name+"="+text)
	}
	return out
}
