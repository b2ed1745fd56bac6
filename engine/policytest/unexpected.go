package policytest

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// unexpected names errors that no expectation has. The same one of a key comes again when
// the key is evaluated again, and is named once, with how often it was expected.
func (c *caseRun) unexpected(at document.Position, got, expected []simulate.Error) {
	distinct, times := counted(got)
	_, wanted := counted(expected)
	for i, e := range distinct {
		if i == maxErrors {
			c.failf(at, "%d more errors that were not expected", len(distinct)-i)
			return
		}
		again := ""
		if wanted[e] > 0 {
			again = fmt.Sprintf(" (%d times, %d expected)", times[e]+wanted[e], wanted[e])
		} else if times[e] > 1 {
			again = fmt.Sprintf(" (%d times)", times[e])
		}
		if strings.Contains(e.message, "; the installation can allow it: ") {
			again += "; edict allowances prints all that the policy needs"
		}
		c.failf(at, "an error that was not expected, for %s: %s%s", e.key, e.message, again)
	}
}

// failed is an error without the time at which it came.
type failed struct {
	policy  string
	key     eval.Key
	message string
}

// counted returns the different errors in their order, and how often each came.
func counted(got []simulate.Error) (distinct []failed, times map[failed]int) {
	times = map[failed]int{}
	for _, g := range got {
		e := failed{g.Policy, g.Key, g.Message}
		if times[e]++; times[e] == 1 {
			distinct = append(distinct, e)
		}
	}
	return distinct, times
}

// noText returns what keeps a value from being a list of texts; nil if it is one.
func noText(n *document.Node) *document.Node {
	if n.Kind == document.Null {
		return nil
	}
	if n.Kind != document.List {
		return n
	}
	for _, item := range n.Values {
		if item.Kind == document.Map || item.Kind == document.List || item.Kind == document.Null {
			return item
		}
	}
	return nil
}
