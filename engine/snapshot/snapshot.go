package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Object is a manifest as plain JSON values.
type Object = apiserver.Object

// Reader keeps what policies read of objects.
type Reader struct {
	needs []need
}

// need is a source with what is kept of its objects.
type need struct {
	source   world.Source
	mask     *value.Mask
	selector labels.Selector
}

// New returns a Reader for policies; those that are disabled read nothing.
func New(policies []*plan.Policy) (*Reader, error) {
	masks := map[world.Source]*value.Mask{}
	for _, p := range policies {
		if p.Mode == plan.Disabled {
			continue
		}
		for _, n := range readmodel.Requirements(p) {
			source := n.Source
			source.Values = false // no value of a Secret is kept, whoever reads it
			masks[source] = value.Merge(masks[source], n.Mask)
		}
	}
	out := &Reader{}
	for source, mask := range masks {
		selector, err := labels.Parse(source.Selector)
		if err != nil {
			return nil, err
		}
		out.needs = append(out.needs, need{source: source, mask: value.Merge(mask, selected(selector)), selector: selector})
	}
	slices.SortFunc(out.needs, func(a, b need) int { return compareSources(a.source, b.source) })
	return out, nil
}

// selected keeps the labels by which a selector chooses objects: it has to choose
// them from the snapshot, too.
func selected(s labels.Selector) *value.Mask {
	requirements, _ := s.Requirements()
	if len(requirements) == 0 {
		return nil
	}
	keys := map[string]*value.Mask{}
	for _, r := range requirements {
		keys[r.Key()] = &value.Mask{}
	}
	return &value.Mask{Fields: map[string]*value.Mask{"metadata": {Fields: map[string]*value.Mask{"labels": {Fields: keys}}}}}
}

func compareSources(a, b world.Source) int {
	return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Selector, b.Selector))
}

// Sources returns what has to be listed for the snapshot, sorted, each once.
func (r *Reader) Sources() []world.Source {
	out := make([]world.Source, len(r.needs))
	for i, n := range r.needs {
		out[i] = n.source
	}
	return out
}

// Kinds returns the kinds that are read, sorted, each once.
func (r *Reader) Kinds() []schema.GVK {
	var out []schema.GVK
	for _, n := range r.needs {
		out = append(out, n.source.GVK)
	}
	return slices.Compact(out)
}

// Take returns what is kept of some objects, sorted by kind, namespace and name,
// each once. Objects that no policy reads are left out. A Secret that an earlier
// snapshot has marked has digests in place of values already.
func (r *Reader) Take(objects []Object) []Object { return r.take(objects, digested) }

// TakeListed is Take for objects that an API server has listed. They have the values of
// Secrets, also of those that are marked: whoever may annotate a Secret can mark it.
func (r *Reader) TakeListed(objects []Object) []Object {
	return r.take(objects, func(map[string]any) bool { return false })
}

// take is Take; digested reports by its metadata whether a Secret has digests.
func (r *Reader) take(objects []Object, digested func(metadata map[string]any) bool) []Object {
	byID := map[world.ID]Object{}
	for _, o := range objects {
		id := apiserver.ID(o)
		metadata, _ := o["metadata"].(map[string]any)
		if id.GVK() == schema.Secret && !digested(metadata) {
			o = readmodel.Redacted(apiserver.StoredSecret(o))
		}
		if kept := r.keep(id, o); kept != nil {
			byID[id] = kept
		}
	}
	out := slices.Collect(maps.Values(byID))
	slices.SortFunc(out, func(a, b Object) int { return world.CompareIDs(apiserver.ID(a), apiserver.ID(b)) })
	return out
}

// keep returns what is kept of one object, which has no values of Secrets; nil when no
// policy reads it.
func (r *Reader) keep(id world.ID, o Object) Object {
	var mask *value.Mask
	metadata, _ := o["metadata"].(map[string]any)
	for _, n := range r.needs {
		if n.source.May(id) && n.selector.Matches(apiserver.Labels(o)) {
			mask = value.Merge(mask, value.Merge(n.mask, identity))
		}
	}
	if mask == nil {
		return nil
	}
	kept, _ := value.Keep(o, mask).(map[string]any)
	m, _ := kept["metadata"].(map[string]any)
	if managers := ours(metadata, mask); managers != nil {
		m["managedFields"] = managers
	}
	if id.GVK() == schema.Secret {
		Mark(m)
	}
	return kept
}

// identity is kept of every object: what names it, and what decides how long it
// stays. The resourceVersion is not: it changes with fields that nobody reads.
var identity = identityMask()

func identityMask() *value.Mask {
	leaf := &value.Mask{}
	return &value.Mask{Fields: map[string]*value.Mask{"apiVersion": leaf, "kind": leaf, "metadata": {Fields: map[string]*value.Mask{
		"name": leaf, "namespace": leaf, "uid": leaf, "generation": leaf, "creationTimestamp": leaf, "deletionTimestamp": leaf,
		"deletionGracePeriodSeconds": leaf, "finalizers": value.KeepAll, "ownerReferences": value.KeepAll,
	}}}}
}

// ours returns what the managedFields say of fields that policies hold, if some
// policy asks for that.
func ours(metadata map[string]any, mask *value.Mask) []any {
	if !value.Covers(mask, world.WithManagers) {
		return nil
	}
	entries, _ := metadata["managedFields"].([]any)
	var out []any
	for _, raw := range entries {
		entry, _ := raw.(map[string]any)
		name, _ := entry["manager"].(string)
		entry = maps.Clone(entry)
		delete(entry, "time") // it changes with fields that nobody reads
		if !strings.HasPrefix(name, world.ManagerPrefix) {
			delete(entry, "fieldsV1")
		}
		out = append(out, entry)
	}
	return out
}

// digested reports whether a Secret is one of a snapshot.
func digested(metadata map[string]any) bool {
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations[v1alpha1.AnnotationDigests] != nil
}

// Mark notes on a Secret that it has digests in place of values already.
func Mark(metadata map[string]any) {
	annotations, _ := metadata["annotations"].(map[string]any)
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[v1alpha1.AnnotationDigests] = "true"
	metadata["annotations"] = annotations
}
