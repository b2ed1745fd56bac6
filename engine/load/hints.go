package load

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// hintFor suggests a field: what is set stands one level deeper in labels and
// annotations.
func hintFor(where, field string, of reflect.Type) string {
	fields := fieldsOf(of)
	near := document.DidYouMean(field, slices.Collect(maps.Keys(fields)))
	if hint := nested(where, field, fields); hint != "" && near == "" {
		return hint
	}
	if slices.Contains(polled, field) && near == "" {
		return "nothing is polled: elapsed(since, period) and cron.last(...) in a condition say when the answer changes, and the object is evaluated then"
	}
	for _, known := range elsewhere[field] {
		if _, ok := fields[known]; ok {
			return "write " + known
		}
	}
	return cmp.Or(near, under(field, of), listed(fields))
}

// nested says where the fields stand of what an action writes.
func nested(where, field string, fields map[string]int) string {
	_, set := fields["set"]
	_, row := fields["when"]
	switch {
	case set && (strings.HasSuffix(where, "labels") || strings.HasSuffix(where, "annotations")):
		return "labels and annotations stand under set: {set: {" + field + ": ...}}"
	case strings.HasSuffix(where, ".patch") && slices.Contains([]string{"metadata", "spec", "status", "data"}, field):
		return "the fields of the object stand under value: {value: {" + field + ": ...}}"
	case field == "when" && strings.Contains(where, ".do["):
		return "the rule has a when, or cases that each have one: an action has none"
	case row && field == "else" && strings.HasSuffix(where, "]"):
		return "a row without when always matches, as the last one"
	}
	return ""
}

// under names the one field in which a field stands, if there is one.
func under(field string, of reflect.Type) string {
	var outer []string
	for name, index := range fieldsOf(of) {
		if has(of.Field(index).Type, field) {
			outer = append(outer, name)
		}
	}
	if len(outer) != 1 {
		return ""
	}
	return fmt.Sprintf("it stands under %s: indent it further", outer[0])
}

// has reports whether the mappings of a type have a field.
func has(of reflect.Type, field string) bool {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return false
	}
	_, ok := fieldsOf(of)[field]
	return ok
}

// outdented returns the empty field above to which the i-th key of a mapping belongs, by its
// name; "" for a key in its place.
func outdented(n *document.Node, i int, of reflect.Type, fields map[string]int) string {
	if i == 0 || i >= len(n.Keys) {
		return ""
	}
	if _, ok := fields[n.Keys[i].Text]; ok {
		return ""
	}
	for above := i - 1; above >= 0; above-- {
		index, ok := fields[n.Keys[above].Text]
		if ok && n.Values[above].Kind == document.Null && has(of.Field(index).Type, n.Keys[i].Text) {
			return n.Keys[above].Text
		}
		if ok {
			return ""
		}
	}
	return ""
}

// scalars are the fields that are meant by a value in place of a mapping.
var scalars = map[string]string{"finalizer": "name", "log": "message", "scale": "replicas", "changes": "perWindow", "removals": "perWindow", "debounce": "window"}

// mappingHint says what stands in place of a value that is no mapping.
func mappingHint(n *document.Node, where string, fields map[string]int) string {
	name := cmp.Or(scalars[where[strings.LastIndex(where, ".")+1:]], "of")
	if _, ok := fields[name]; ok && n.Text != "" && (name != "of" || n.Kind == document.String) {
		return "{" + name + ": " + n.Text + "}"
	}
	return listed(fields)
}

// maxListed is how many fields a hint names.
const maxListed = 16

func listed(fields map[string]int) string {
	if len(fields) == 0 || len(fields) > maxListed {
		return ""
	}
	return "its fields are " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// listHint says how a list is written of what stands in its place.
func listHint(n *document.Node, elem reflect.Type) string {
	switch {
	case n.Kind == document.Map && len(n.Keys) == 0:
		return "[]"
	case n.Kind == document.Map && has(elem, "name") && has(elem, "expression"):
		return "each item has a name: - {name: " + n.Keys[0].Text + ", expression: ...}"
	case n.Kind == document.Map && elem.Kind() == reflect.Struct:
		return "each item begins with a dash: - " + n.Keys[0].Text + ": ..."
	case elem == textType && n.Text != "":
		return "[" + n.Text + "]"
	}
	return ""
}

// polled are fields of other systems that say when something is looked at again.
var polled = []string{"schedule", "cron", "interval", "every", "period", "requeue", "requeueAfter", "resync", "resyncPeriod", "syncPeriod", "timeout", "delay"}

// elsewhere are names of fields that authors know from other systems, and what they may
// be here.
var elsewhere = map[string][]string{
	"if": {"when"}, "condition": {"when"}, "then": {"do", "expect"}, "actions": {"do"}, "steps": {"do"}, "match": {"for"}, "selector": {"where"}, "foreach": {"forEach"},
	"matchLabels": {"selector"}, "labelSelector": {"selector"}, "resources": {"inputs"}, "vars": {"variables"}, "value": {"expression"}, "expr": {"expression"},
	"target": {"of"}, "object": {"of"}, "resource": {"of"}, "switch": {"cases"}, "else": {"cases"}, "group": {"apiVersion"}, "version": {"apiVersion"},
	"matchConstraints": {"for"}, "validations": {"rules"}, "filter": {"where"}, "template": {"apply"}, "manifest": {"apply"}, "readyWhen": {"ready"}, "includeWhen": {"when"}, "dependsOn": {"after"}, "preconditions": {"when"}, "context": {"inputs"}, "exclude": {"where"},
	"update": {"patch"}, "edit": {"patch"}, "modify": {"patch"}, "create": {"apply"}, "remove": {"delete"}, "tick": {"advance"}, "wait": {"advance"}, "sleep": {"advance"}, "assert": {"expect"}, "given": {"objects"},
}
