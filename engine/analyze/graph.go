package analyze

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// Node is a part of a policy with what it depends on. Nodes form a graph: a node
// uses others by their names, and consists of others. It is filled in while the
// policy is compiled, and does not change after Seal.
type Node struct {
	Kind Kind
	Name string
	Pos  document.Position
	// Reads are the parts of objects that its own expressions read. HandsOn are
	// those that its value may be: reading them is left to the nodes that use it.
	Reads, HandsOn Reads
	// Compares are what its actions read to compare it with what they write: their
	// own writes change it.
	Compares Reads
	// Uses are the nodes that its own expressions name, sorted after Seal.
	Uses []*Node
	// Parts are the nodes that it consists of.
	Parts []*Node
	// Writes are what its actions write, Finalizers those that they leave behind.
	Writes     []Write
	Finalizers []FinalizerUse
	// Timed says that it calls builtins that depend on the time, Recalls ones that
	// read what was remembered. Keeps says that it remembers a value or delays a
	// rule.
	Timed, Recalls, Keeps bool
	// Queries are the builtins outside of the process that it calls.
	Queries []string
	// Text is what it says apart from the names of Uses.
	Text string
	hash string
}

// New makes a node without dependencies.
func New(kind Kind, name string, at document.Position) *Node {
	return &Node{Kind: kind, Name: name, Pos: at, Reads: Reads{}, HandsOn: Reads{}, Compares: Reads{}}
}

// Part makes a node that n consists of.
func (n *Node) Part(kind Kind, name string, at document.Position) *Node {
	part := New(kind, name, at)
	n.Parts = append(n.Parts, part)
	return part
}

// Add makes other nodes parts of n.
func (n *Node) Add(parts ...*Node) { n.Parts = append(n.Parts, parts...) }

// Write records that n writes something.
func (n *Node) Write(w Write) {
	if !slices.Contains(n.Writes, w) {
		n.Writes = append(n.Writes, w)
	}
}

// Use records that n names others.
func (n *Node) Use(others ...*Node) {
	for _, other := range others {
		if other != nil && other != n && !slices.Contains(n.Uses, other) {
			n.Uses = append(n.Uses, other)
		}
	}
}

// Calls records which builtins a program calls.
func (n *Node) Calls(p *cel.Program) {
	ast.PostOrderVisit(p.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		if f := p.Env().Function(e.AsCall().FunctionName()); f != nil {
			n.Timed, n.Recalls = n.Timed || f.Timed, n.Recalls || f.Recalls
		}
	}))
}

// AllReads returns what the expressions and the comparisons of the node itself read.
func (n *Node) AllReads() Reads {
	if len(n.Compares) == 0 {
		return n.Reads
	}
	out := Reads{}
	out.Merge(n.Reads)
	out.Merge(n.Compares)
	return out
}

// ObjectMask returns what n and its parts read of the primary object, or may
// hand on of it; nil when they read nothing of it.
func (n *Node) ObjectMask() *value.Mask {
	var mask *value.Mask
	n.EachPart(func(part *Node) {
		mask = value.Merge(value.Merge(mask, part.AllReads()[Object]), part.HandsOn[Object])
	})
	return mask
}

// EachPart visits n and all that it consists of.
func (n *Node) EachPart(visit func(*Node)) {
	visit(n)
	for _, part := range n.Parts {
		part.EachPart(visit)
	}
}

// Reaches reports whether n, a part of it, or a node that one of them uses,
// directly or through others, is one that is looked for.
func (n *Node) Reaches(is func(*Node) bool) bool {
	seen := map[*Node]bool{}
	n.Reach(seen)
	for other := range seen {
		if is(other) {
			return true
		}
	}
	return false
}

// Reach adds n and all that it depends on to a set.
func (n *Node) Reach(seen map[*Node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	for _, other := range n.Parts {
		other.Reach(seen)
	}
	for _, other := range n.Uses {
		other.Reach(seen)
	}
}

// Dependencies returns the nodes that n and its parts use, directly or through
// others.
func (n *Node) Dependencies() map[*Node]bool {
	out := map[*Node]bool{}
	n.EachPart(func(part *Node) {
		for _, other := range part.Uses {
			other.Reach(out)
		}
	})
	return out
}

// UsesOnly reports whether all that n and its parts name is one of the given
// kinds, or a part of n.
func (n *Node) UsesOnly(kinds ...Kind) bool {
	own := map[*Node]bool{}
	n.EachPart(func(part *Node) { own[part] = true })
	for part := range own {
		for _, other := range part.Uses {
			if !own[other] && !slices.Contains(kinds, other.Kind) {
				return false
			}
		}
	}
	return true
}

// Hash returns a hash of what n says and of all that it depends on: a node of
// another revision with the same hash decides the same. It is set by Seal.
func (n *Node) Hash() string { return n.hash }

// Seal sorts what a graph holds and computes the hashes of the node and of all
// that it depends on. No node may use itself through others.
func (n *Node) Seal() {
	if n.hash != "" {
		return
	}
	slices.SortFunc(n.Uses, func(a, b *Node) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q\n", n.Kind, n.Name, n.Text)
	seal(h, "part", n.Parts)
	seal(h, "use", n.Uses)
	n.hash = hex.EncodeToString(h.Sum(nil))[:16]
}

func seal(out io.Writer, relation string, nodes []*Node) {
	for _, other := range nodes {
		other.Seal()
		fmt.Fprintln(out, relation, other.hash)
	}
}
