package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// Action is one thing a rule does. The set is closed: eval knows how to
// evaluate each, apply how to write what comes of it.
type Action interface{ isAction() }

// ObjectRef names the object that an action is about.
type ObjectRef struct {
	Pos document.Position
	// Expression returns the object; nil together with an empty GVK means the
	// primary.
	Expression *cel.Program
	// Kinds are those that the objects of Expression may have.
	Kinds []schema.GVK
	// Otherwise the object is named outright.
	schema.GVK
	Namespace *cel.Template
	Name      *cel.Template
	// Target is the index of the named kind in Policy.Targets.
	Target int
}

// Primary reports whether the reference means the primary.
func (r *ObjectRef) Primary() bool { return r.Expression == nil && r.Kind == "" }

// Merge merges fields into an object: labels, annotations, status and patch
// are all of this form.
type Merge struct {
	Pos         document.Position
	Of          ObjectRef
	Subresource string
	// Under is the path of fields that Fields are merged into.
	Under  []string
	Fields *cel.Template
	// Create makes a missing object.
	Create bool
	// Unlocked writes also an object that has changed since it was read.
	Unlocked bool
}

// Condition keeps one condition of an object.
type Condition struct {
	Pos                     document.Position
	Of                      ObjectRef
	Type                    *cel.Template
	Status, Reason, Message *cel.Template
	Absent                  bool
	// Track compares observedGeneration, too; NoGeneration says that the conditions of the
	// kind do not have it.
	Track, NoGeneration bool
}

// ListEntry keeps one entry of a list of an object.
type ListEntry struct {
	Pos         document.Position
	Of          ObjectRef
	Subresource string
	// Path is the list's.
	Path []string
	// By are the fields that tell the entry from others, Entry those that it is
	// to have besides; Remove takes it out.
	By, Entry *cel.Template
	Remove    bool
	// Create makes a missing object.
	Create bool
}

// Child makes an object, or with Apply keeps what the policy says of it.
type Child struct {
	Pos document.Position
	schema.GVK
	Manifest *cel.Template
	Apply    bool
	// Once are paths of fields that an apply sets when it makes the object, and
	// leaves alone afterwards.
	Once [][]string
	// Take lets an apply take over an object that is somebody else's.
	Take bool
	// Type is the kind's.
	Type *schema.Type
	// Target is the index of the kind in Policy.Targets.
	Target int
	// Kept says that the object is one of a set of children: labels and annotations of it
	// name the primary object that it is kept for.
	Kept bool
	// Others is the index in Policy.Targets of the primary objects, where the object says
	// which of them it is for; -1 is an object that does not.
	Others int
}

// Background is how dependents are deleted unless a policy says otherwise: after
// their owner.
const Background = "Background"

// Delete deletes an object.
type Delete struct {
	Pos document.Position
	Of  ObjectRef
	// Propagation is Background, Foreground or Orphan.
	Propagation string
	// GracePeriod returns a duration; nil is that of the kind.
	GracePeriod *cel.Template
	// Changed deletes the object also when it has changed since it was read.
	Changed bool
}

// Scale sets how many replicas an object has.
type Scale struct {
	Pos      document.Position
	Of       ObjectRef
	Replicas *cel.Program
	// Field is the path of the field that holds the number.
	Field []string
}

// Evict evicts a Pod.
type Evict struct {
	Pos document.Position
	Of  ObjectRef
	// GracePeriod returns a duration; nil is the Pod's own.
	GracePeriod *cel.Template
}

// Approve approves or denies a CertificateSigningRequest.
type Approve struct {
	Pos document.Position
	Of  ObjectRef
	// Signer is the spec.signerName of the request, or a domain and /*.
	Signer string
	// Approved returns whether it is approved; nil is true.
	Approved        *cel.Program
	Reason, Message *cel.Template
}

// Signs reports whether the signer of a request is one that the action is for.
func (a *Approve) Signs(name string) bool { return SignerIn(a.Signer, name) }

// SignerIn reports whether a name of a signer, or a domain and /*, includes a name.
func SignerIn(pattern, name string) bool {
	domain, all := strings.CutSuffix(pattern, "/*")
	return pattern == name || all && strings.HasPrefix(name, domain+"/")
}

// Finalizer keeps a finalizer on an object, or off it.
type Finalizer struct {
	Pos    document.Position
	Of     ObjectRef
	Name   *cel.Template
	Absent bool
}

// Remember keeps a value for the next evaluations of the key.
type Remember struct {
	Pos         document.Position
	Name, Value *cel.Template
}

// Event emits a Kubernetes Event about an object.
type Event struct {
	Pos             document.Position
	Of              ObjectRef
	Warning         bool
	Reason, Message *cel.Template
}

// Log writes a line to the controller's log.
type Log struct {
	Pos     document.Position
	Level   string
	Message *cel.Template
}

// Fail makes the item fail.
type Fail struct {
	Pos     document.Position
	Message *cel.Template
}

func (*Merge) isAction()     {}
func (*Condition) isAction() {}
func (*Event) isAction()     {}
func (*Log) isAction()       {}
func (*Fail) isAction()      {}
func (*Select) isAction()    {}
func (*ListEntry) isAction() {}
func (*Child) isAction()     {}
func (*Delete) isAction()    {}
func (*Scale) isAction()     {}
func (*Evict) isAction()     {}
func (*Approve) isAction()   {}
func (*Finalizer) isAction() {}
func (*Remember) isAction()  {}

// GraceSeconds reads the grace period of a deletion or an eviction, a duration in whole
// seconds, and returns their number.
func GraceSeconds(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d%time.Second != 0 {
		return 0, fmt.Errorf("gracePeriod is a duration in whole seconds, such as 30s, not %q", text)
	}
	return int64(d / time.Second), nil
}
