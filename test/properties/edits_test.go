package properties

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

// editor makes random edits of a policy's text.
type editor struct {
	*rand.Rand
	document *yaml.Node
	// names are the parts of the policy, by what they are.
	names map[string][]string
}

func newEditor(t *testing.T, text []byte, seed uint64) *editor {
	t.Helper()
	e := &editor{Rand: rand.New(rand.NewPCG(seed, 9)), document: &yaml.Node{}, names: map[string][]string{}}
	if err := yaml.Unmarshal(text, e.document); err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"variables", "inputs"} {
		for _, n := range field(e.spec(), section).Content {
			e.names[section] = append(e.names[section], field(n, "name").Value)
		}
	}
	params := field(e.spec(), "params")
	for i := 0; i < len(params.Content); i += 2 {
		e.names["params"] = append(e.names["params"], params.Content[i].Value)
	}
	return e
}

func (e *editor) spec() *yaml.Node { return field(e.document.Content[0], "spec") }

// field returns a field of a mapping; an empty node when there is none.
func field(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// text writes the document as it is now.
func (e *editor) text(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(e.document); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// edit changes one scalar of the spec, or the order of two rules, and says what
// it did.
func (e *editor) edit() string {
	if rules := field(e.spec(), "rules").Content; len(rules) > 1 && e.IntN(20) == 0 {
		i := 1 + e.IntN(len(rules)-1)
		rules[i-1], rules[i] = rules[i], rules[i-1]
		return fmt.Sprintf("rules %d and %d change places", i-1, i)
	}
	scalars := values(e.spec(), nil)
	for range 100 {
		n := scalars[e.IntN(len(scalars))]
		before := n.Value
		if n.Value = e.change(n); n.Value != before {
			return fmt.Sprintf("%q becomes %q", before, n.Value)
		}
	}
	return "nothing"
}

// values gathers the scalars that are not keys.
func values(n *yaml.Node, out []*yaml.Node) []*yaml.Node {
	switch n.Kind {
	case yaml.ScalarNode:
		return append(out, n)
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			out = values(n.Content[i], out)
		}
	default:
		for _, c := range n.Content {
			out = values(c, out)
		}
	}
	return out
}

var (
	token = regexp.MustCompile("(variables|inputs|params)\\s*\\.\\s*`?[A-Za-z_]\\w*`?|==|!=|&&|\\|\\||>=|<=|[<>+]|\\b\\d+\\b|\\btrue\\b|\\bfalse\\b|\"[^\"]*\"|'[^']*'")
	named = regexp.MustCompile(`^(variables|inputs|params)\s*\.`)
)

// other are operators and literals that can take each other's place.
var other = map[string]string{"==": "!=", "!=": "==", "&&": "||", "||": "&&", ">": ">=", ">=": ">", "<": "<=", "<=": "<", "+": "-", "true": "false", "false": "true"}

// change returns a scalar another value: one token of an expression, the other
// truth, the next number, or a longer word.
func (e *editor) change(n *yaml.Node) string {
	switch n.Tag {
	case "!!bool":
		return other[n.Value]
	case "!!int":
		i, _ := strconv.Atoi(n.Value)
		return strconv.Itoa(i + 1)
	}
	found := token.FindAllStringIndex(n.Value, -1)
	if len(found) == 0 {
		return n.Value + "x"
	}
	at := found[e.IntN(len(found))]
	return n.Value[:at[0]] + e.token(n.Value[at[0]:at[1]]) + n.Value[at[1]:]
}

func (e *editor) token(text string) string {
	if now, ok := other[text]; ok {
		return now
	}
	if m := named.FindStringSubmatch(text); m != nil {
		return e.reference(m[1])
	}
	if i, err := strconv.Atoi(text); err == nil {
		return strconv.Itoa(i + 1)
	}
	return text[:1] + "x" + text[1:]
}

// reference spells the name of another part in one of the ways there are.
func (e *editor) reference(section string) string {
	name := e.names[section][e.IntN(len(e.names[section]))]
	return []string{section + "." + name, section + ".`" + name + "`", section + " . " + name}[e.IntN(3)]
}

// loaded compiles the text of a file; nil when it is wrong. Problems name the file.
func loaded(t *testing.T, path string, text []byte, schemas string) *source.Bundle {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{Schemas: []string{schemas}})
	if err != nil || b.Err() != nil || len(b.Policies) != 1 {
		return nil
	}
	return b
}

// TestGeneratedEdits changes any one scalar of a policy, reloads it and requires
// that each key which is not evaluated again would have decided the same.
func TestGeneratedEdits(t *testing.T) {
	folder := filepath.Join("..", "..", "policies")
	for file, count := range map[string]int{
		filepath.Join("testdata", "parts.yaml"): 300, filepath.Join("testdata", "forms.yaml"): 150,
		filepath.Join(folder, "storage-pool-eligibility.yaml"): 100, filepath.Join(folder, "agent-node-label.yaml"): 60,
		filepath.Join(folder, "replica-scheduling.yaml"): 100,
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			count := budget.Of(count/3, count)
			compiled, spared := 0, 0
			path := filepath.Join(t.TempDir(), "policy.yaml")
			before := loaded(t, path, newEditor(t, text, 0).text(t), filepath.Join(folder, "schemas"))
			for seed := range uint64(count) {
				e := newEditor(t, text, seed)
				what := e.edit()
				if after := loaded(t, path, e.text(t), filepath.Join(folder, "schemas")); after != nil {
					compiled++
					spared += reloaded(t, before, after, seed, fmt.Sprintf("edit %d, %s", seed, what))
				}
			}
			t.Logf("%d of %d edits compile, %d keys were not evaluated again", compiled, count, spared)
			if compiled < count/3 || spared == 0 {
				t.Errorf("%d of %d edits compile, %d keys were spared: too few to show anything", compiled, count, spared)
			}
		})
	}
}

// reloaded lets one revision take over from another in a generated world, and
// lets a few things happen afterwards. It returns how many keys were not
// evaluated again.
func reloaded(t *testing.T, before, after *source.Bundle, seed uint64, what string) int {
	t.Helper()
	g := worlds.New(9000 + seed)
	b := newBench(t, before)
	for _, o := range g.World() {
		b.put(o, false)
	}
	r := &reload{bench: b, old: b.group.Controllers()[0], decided: map[eval.Key]string{}}
	r.decide(r.old, r.group.Replay(t.Context(), r.old))
	r.swap(after.Policies[0])
	r.forget() // an edit of the primary leaves some to nobody
	r.check(what)
	for range 3 {
		event, woken := b.happen(g)
		r.decide(r.now, keysOf(slices.Sorted(maps.Keys(woken))))
		r.forget()
		r.check(what + ", then " + event)
	}
	return r.spared
}
