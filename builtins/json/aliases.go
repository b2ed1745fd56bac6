package json

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/value"
)

// MaxExpanded is how large a YAML text may become when each alias in it is
// replaced by what it stands for, in bytes.
const MaxExpanded = value.MaxResultBytes

// errExpanded says that a text becomes too large.
var errExpanded = fmt.Errorf("with its aliases written out the text has more than %d bytes; write what differs, or use fewer aliases", MaxExpanded)

// checkAliases refuses a text that its aliases make too large. A text without
// aliases cannot grow.
func checkAliases(text string) error {
	if !strings.Contains(text, "*") {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return err
	}
	e := expander{sizes: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	if _, err := e.size(&root); err != nil {
		return err
	}
	return nil
}

// oneDocument refuses a text with more documents than the first, which would be lost. An
// empty one at its end is none.
func oneDocument(text string) error {
	if !strings.Contains(text, "---") {
		return nil
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var n yaml.Node
	for i := 0; decoder.Decode(&n) == nil; i++ {
		if i > 0 && (len(n.Content) == 0 || n.Content[0].Tag != "!!null") {
			return errors.New("there is more than one document")
		}
	}
	return nil // the end, or what whoever reads the first reports
}

type expander struct {
	sizes map[*yaml.Node]int
	// open are the anchors under way: one that holds itself has no end.
	open map[*yaml.Node]bool
}

// nodeBytes is what is counted for a value beside its text.
const nodeBytes = 4

func (e *expander) size(n *yaml.Node) (int, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if known, ok := e.sizes[n]; ok {
		return known, nil
	}
	if e.open[n] {
		return 0, errors.New("an alias stands for a value that contains it")
	}
	e.open[n] = true
	sum := nodeBytes + len(n.Value)
	for _, c := range n.Content {
		inner, err := e.size(c)
		if err != nil {
			return 0, err
		}
		if sum += inner; sum > MaxExpanded {
			return 0, errExpanded
		}
	}
	delete(e.open, n)
	e.sizes[n] = sum
	return sum, nil
}
