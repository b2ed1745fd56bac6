package selector_test

import (
	"fmt"

	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// A selector is a text as kubectl takes it, or a LabelSelector.
func ExampleParse() {
	text, err := selector.Parse(value.OfString("app=web,tier!=cache"))
	fmt.Println(text, err)

	object, err := selector.Parse(value.Freeze(map[string]any{
		"matchLabels":      map[string]any{"app": "web"},
		"matchExpressions": []any{map[string]any{"key": "tier", "operator": "Exists"}},
	}, nil, value.KeepAll))
	fmt.Println(object, err)

	nothing, err := selector.Parse(value.Null)
	fmt.Println(nothing == selector.Nothing, err)
	// Output:
	// app=web,tier!=cache <nil>
	// app=web,tier <nil>
	// true <nil>
}

// A malformed selector is reported as the API server does.
func ExampleParse_malformed() {
	_, err := selector.Parse(value.OfString("app in web"))
	fmt.Println(err)
	// Output: unable to parse requirement: found 'web' expected: '('
}

func ExampleSelector_Matches() {
	web, err := selector.Parse(value.OfString("app=web"))
	if err != nil {
		fmt.Println(err)
		return
	}
	labels := value.FromMap(map[string]value.Value{"app": value.OfString("web")})
	fmt.Println(web.Matches(labels), web.Matches(value.Empty))
	// Output: true false
}
