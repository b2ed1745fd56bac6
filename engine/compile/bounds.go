package compile

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// withinBounds checks minimum, maximum, minLength and enums.
func withinBounds(p v1alpha1.Param, kind string, v value.Value) error {
	for _, bound := range []struct {
		name string
		node *document.Node
		// beyond is the order of a value that is out of it.
		beyond int
	}{{"minimum", p.Minimum, -1}, {"maximum", p.Maximum, 1}} {
		if bound.node == nil {
			continue
		}
		limit, err := paramValue(kind, bound.node.Plain())
		if err != nil {
			return fmt.Errorf("%s: %w", bound.name, err)
		}
		if order, ok := value.Compare(v, limit); !ok || order == bound.beyond {
			return fmt.Errorf("the %s is %s", bound.name, bound.node.Text)
		}
	}
	if p.MinLength != nil {
		if least, ok := p.MinLength.Plain().(int64); ok && int64(value.Size(v)) < least {
			return fmt.Errorf("it must have a length of at least %d", least)
		}
	}
	return withinEnums(p, kind, v)
}

func withinEnums(p v1alpha1.Param, kind string, v value.Value) error {
	if err := oneOf(p.Enum, kind, v); err != nil {
		return err
	}
	if list, ok := v.(*value.List); ok {
		for _, item := range list.Items() {
			if err := oneOf(p.Items.Enum, "", item); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneOf reports a value that is none of those of a list, which are of a kind of params, or
// of that of their text.
func oneOf(enum *document.Node, kind string, v value.Value) error {
	if enum == nil {
		return nil
	}
	var names []string
	for _, n := range enum.Values {
		one, err := paramValue(kind, n.Plain())
		if err != nil {
			one = value.Freeze(n.Plain(), nil, value.KeepAll)
		}
		if value.Same(one, v) {
			return nil
		}
		names = append(names, n.Text)
	}
	return fmt.Errorf("%v is not one of %s", value.Plain(v), strings.Join(names, ", "))
}
