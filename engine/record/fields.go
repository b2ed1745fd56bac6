package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

func (w renderer) wakes(p *plan.Policy, list []Wake) []WakeDocument {
	out := make([]WakeDocument, 0, len(list))
	for _, wake := range list {
		doc := WakeDocument{Reason: wake.Reason}
		if o := cmp.Or(wake.After, wake.Before); o != nil {
			name := ObjectOf(o.ID())
			doc.Object = &name
		}
		if wake.Before != nil && wake.After != nil {
			doc.Fields = changed(wake.Before, wake.After, maskOf(p, wake.Source))
		}
		out = append(out, doc)
	}
	return out
}

// maskOf returns what a policy reads of the objects of a source.
func maskOf(p *plan.Policy, source world.Source) (mask *value.Mask) {
	if p.Primary.Source == source {
		mask = value.Merge(mask, p.ObjectReads)
	}
	for _, in := range p.Inputs {
		if in.Source == source {
			mask = value.Merge(mask, in.Reads)
		}
	}
	for _, t := range p.Targets {
		if t.Source == source {
			mask = value.Merge(mask, t.Reads)
		}
	}
	return mask
}

// field is a field under a mask.
type field struct {
	path string
	mask *value.Mask
}

// fields returns the smallest parts of a mask: paths of fields, where [*] is each
// item of a list and each value of a map.
func fields(m *value.Mask, path string, around func(*value.Mask) *value.Mask) (out []field) {
	if m == nil {
		return nil
	}
	if m.All || len(m.Fields) == 0 && m.Each == nil {
		return []field{{path: path, mask: around(m)}}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		out = append(out, fields(m.Fields[name], at, func(inner *value.Mask) *value.Mask {
			return around(&value.Mask{Fields: map[string]*value.Mask{name: inner}})
		})...)
	}
	if m.Each != nil {
		out = append(out, fields(m.Each, path+"[*]", func(inner *value.Mask) *value.Mask { return around(&value.Mask{Each: inner}) })...)
	}
	return out
}

func allFields(m *value.Mask) []field {
	return fields(m, "", func(inner *value.Mask) *value.Mask { return inner })
}

// Whole is the path of an object that is read as a whole.
const Whole = "(all of it)"

// Paths returns the smallest parts of a mask as paths of fields, where [*] is each
// item of a list and each value of a map; of a whole object it is Whole alone.
func Paths(m *value.Mask) []string {
	if m != nil && m.All {
		return []string{Whole}
	}
	out := []string{}
	for _, f := range allFields(m) {
		switch f.path {
		case "": // its presence
		case world.ManagersField:
			out = append(out, "metadata.managedFields")
		default:
			out = append(out, f.path)
		}
	}
	return out
}

// Join writes paths for people.
func Join(paths []string) string {
	if len(paths) == 0 {
		return "(only that it exists)"
	}
	return strings.Join(paths, ", ")
}

// changed returns the fields under a mask that differ.
func changed(before, after *world.Object, m *value.Mask) (out []string) {
	if m != nil && m.All {
		return []string{Whole}
	}
	for _, f := range allFields(m) {
		known, _, _ := strings.Cut(f.path, "[*]")
		names := strings.Split(known, ".")
		if value.Path(before.Value, names...) == nil && value.Path(after.Value, names...) == nil {
			continue // only what is around it has come or gone
		}
		if !value.SameUnder(before.Value, after.Value, f.mask) {
			out = append(out, f.path)
		}
	}
	return out
}
