package eval

import (
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// applications are the objects that an evaluation applies, each once: what is applied twice with
// different content would be written again and again.
type applications struct {
	list []application
	// byID finds them where there are many.
	byID map[world.ID]int
}

// application is an object that is applied, with a digest of its content, and by what.
type application struct {
	id     world.ID
	digest value.Value
	rule   *plan.Rule
	// item is the name of the item, number its number among those of the rule.
	item   string
	number int
}

// manyApplications is how many are looked through one by one.
const manyApplications = 16

func (c *applications) find(id world.ID) *application {
	if c.byID != nil {
		if i, ok := c.byID[id]; ok {
			return &c.list[i]
		}
		return nil
	}
	for i := range c.list {
		if c.list[i].id == id {
			return &c.list[i]
		}
	}
	return nil
}

func (c *applications) add(one application) {
	c.list = append(c.list, one)
	if c.byID == nil && len(c.list) > manyApplications {
		c.byID = make(map[world.ID]int, 2*len(c.list))
		for i := range c.list {
			c.byID[c.list[i].id] = i
		}
	}
	if c.byID != nil {
		c.byID[one.id] = len(c.list) - 1
	}
}

// back drops all but the first n.
func (c *applications) back(n int) {
	for i := range c.list[n:] {
		delete(c.byID, c.list[n+i].id)
	}
	c.list = c.list[:n]
}

// alone notes that the item applies an object. It reports whether the same is applied
// already, and fails if something else is, or if it is the child of an item before.
func (p applying) alone(id world.ID, digest value.Value) (again bool, err error) {
	now := application{id: id, digest: digest, rule: p.run.rule, item: p.run.current, number: p.run.items}
	first := p.run.ev.applications.find(id)
	switch {
	case first == nil:
		p.run.ev.applications.add(now)
		return false, nil
	case !p.a.Kept && value.Same(first.digest, digest):
		return true, nil
	}
	step := "Let one of them apply it, with all its fields"
	if first.rule == p.run.rule && first.number != now.number {
		step = "Put what tells the items apart, such as a key of theirs, into metadata.name"
	}
	return false, &expr.Failure{At: p.a.Pos, Err: fmt.Errorf("%s is applied by %s already; nothing is applied by %s. %s", shown(id), first, now, step)}
}

// String names the item, or else the rule.
func (c application) String() string {
	switch {
	case c.rule.ForEach == nil:
		return fmt.Sprintf("the rule %q", c.rule.Name)
	case c.item == "":
		return fmt.Sprintf("item number %d of the rule %q", c.number, c.rule.Name)
	default:
		return fmt.Sprintf("the item %q of the rule %q", c.item, c.rule.Name)
	}
}
