package verify

import (
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// reduce keeps some objects of each kind, those first that name objects which are kept
// or are named by them; one more of each kind may be created.
func (w *world) reduce(o *Options) {
	if o.PerKind == 0 {
		w.objects = o.Objects
		return
	}
	r := reduction{texts: make([]map[string]bool, len(o.Objects)), score: make([]int, len(o.Objects)), kept: make([]bool, len(o.Objects)), count: map[schema.GVK]int{}, objects: o.Objects}
	for i, object := range o.Objects {
		r.texts[i] = map[string]bool{}
		eachText(object, func(text string) { r.texts[i][text] = true })
	}
	for i := r.best(o.PerKind); i >= 0; i = r.best(o.PerKind) {
		r.keep(i)
	}
	spare := map[schema.GVK]bool{}
	for i, object := range o.Objects {
		switch kind := gvkOf(object); {
		case r.kept[i]:
			w.objects = append(w.objects, object)
			continue
		case !spare[kind]:
			spare[kind] = true
			w.spare = append(w.spare, object)
		}
		w.left++
	}
}

// reduction chooses objects.
type reduction struct {
	objects []simulate.Object
	texts   []map[string]bool
	// score counts the objects that are kept and are linked to one.
	score []int
	kept  []bool
	count map[schema.GVK]int
}

// best returns the object to keep next; -1 is none.
func (r *reduction) best(perKind int) int {
	best := -1
	for i, o := range r.objects {
		if !r.kept[i] && r.count[gvkOf(o)] < perKind && (best < 0 || r.score[i] > r.score[best]) {
			best = i
		}
	}
	return best
}

func (r *reduction) keep(at int) {
	r.kept[at] = true
	r.count[gvkOf(r.objects[at])]++
	name := simulate.ID(r.objects[at]).Name()
	for i, o := range r.objects {
		if r.texts[i][name] || r.texts[at][simulate.ID(o).Name()] {
			r.score[i]++
		}
	}
}

// eachText visits the texts in a value.
func eachText(v any, visit func(string)) {
	switch v := v.(type) {
	case simulate.Object:
		for _, field := range v {
			eachText(field, visit)
		}
	case []any:
		for _, item := range v {
			eachText(item, visit)
		}
	case string:
		visit(v)
	}
}
