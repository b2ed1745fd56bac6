package brake

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// change is a field that an effect changes.
type change struct {
	path    string
	removed bool
}

// maxChanges bounds the fields of one effect that are looked at.
const maxChanges = 256

// changes returns the fields that an effect changes. That an object is made or
// deleted is a change of the field "".
func changes(e *eval.Effect) []change {
	var d differ
	switch {
	case e.Verb == eval.VerbEvent:
	case e.Verb == eval.VerbDelete, e.Verb == eval.VerbEvict:
		d.out = append(d.out, change{removed: true})
	case e.Before == nil || e.Verb == eval.VerbCreate:
		d.out = append(d.out, change{})
	default:
		d.maps("", e.Before, e.Patch, e.Type)
	}
	return d.out
}

type differ struct{ out []change }

// maps compares an object with a patch of it.
func (d *differ) maps(path string, before, patch *value.Map, t *schema.Type) {
	for i := range patch.Len() {
		key, now := patch.At(i)
		var was value.Value
		if before != nil {
			was = before.Lookup(key)
		}
		d.values(strings.TrimPrefix(path+"."+key, "."), was, now, t.Field(key))
	}
}

// values compares two values. A map, or a list of named items, that comes or goes as a whole
// counts as its parts: a field has the same path when it is the only one.
func (d *differ) values(path string, was, now value.Value, t *schema.Type) {
	switch now := now.(type) {
	case *value.Map:
		if before, ok := was.(*value.Map); ok || absent(was) && now.Len() > 0 {
			d.maps(path, before, now, t)
			return
		}
	case *value.List:
		before, ok := was.(*value.List)
		if absent(was) && now.Len() > 0 {
			before, ok = value.NewList(nil), true
		}
		if ok {
			if key := itemKey(before, now); key != "" {
				d.items(path, key, before, now, t)
				return
			}
		}
	}
	if absent(now) && d.gone(path, was, t) {
		return
	}
	d.add(path, was, now, t)
}

// gone notes the parts of what is removed as a whole; false if it has none.
func (d *differ) gone(path string, was value.Value, t *schema.Type) bool {
	switch was := was.(type) {
	case *value.Map:
		for i := range was.Len() {
			key, v := was.At(i)
			d.values(path+"."+key, v, nil, t.Field(key))
		}
		return was.Len() > 0
	case *value.List:
		key := itemKey(was)
		if key != "" {
			d.items(path, key, was, value.NewList(nil), t)
		}
		return key != "" && was.Len() > 0
	}
	return false
}

func absent(v value.Value) bool { return v == nil || value.IsNull(v) }

// items compares lists by the field that tells their items apart.
func (d *differ) items(path, key string, before, now *value.List, t *schema.Type) {
	for _, item := range now.Items() {
		name := value.StringAt(item, key)
		at := path + "[" + key + "=" + name + "]"
		if was := itemOf(before, key, name); was != nil {
			d.values(at, was, item, t.Item())
		} else {
			d.add(at, nil, item, t.Item())
		}
	}
	for _, item := range before.Items() {
		if name := value.StringAt(item, key); itemOf(now, key, name) == nil {
			d.add(path+"["+key+"="+name+"]", item, nil, nil)
		}
	}
}

func itemOf(list *value.List, key, name string) value.Value {
	at := slices.IndexFunc(list.Items(), func(item value.Value) bool { return value.StringAt(item, key) == name })
	if at < 0 {
		return nil
	}
	return list.At(at)
}

// maxItems bounds the lists that are compared item by item.
const maxItems = 64

// itemKey returns the field that tells the items of both lists apart; "" if
// there is none of the usual ones.
func itemKey(lists ...*value.List) string {
	for _, key := range []string{"type", "name", "key", "uid"} {
		if !slices.ContainsFunc(lists, func(l *value.List) bool { return !keyed(l, key) }) {
			return key
		}
	}
	return ""
}

func keyed(list *value.List, key string) bool {
	if list.Len() > maxItems {
		return false
	}
	seen := make(map[string]bool, list.Len())
	for _, item := range list.Items() {
		name := value.StringAt(item, key)
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

func (d *differ) add(path string, was, now value.Value, t *schema.Type) {
	if len(d.out) < maxChanges && !identical(was, now) && (t == nil || !eval.Stored(was, now, t)) {
		d.out = append(d.out, change{path: path, removed: absent(now)})
	}
}

func identical(a, b value.Value) bool {
	if absent(a) || absent(b) {
		return absent(a) && absent(b)
	}
	return value.Identity(a) == value.Identity(b)
}
