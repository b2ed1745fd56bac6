package cel

import (
	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/expr"
)

// kept counts what compiled expressions keep: the nodes of their trees, the types of these,
// the instructions of their patterns once they are compiled, and their texts.
type kept struct{ expressions, nodes, types, instructions, bytes int }

// The bytes of the heap that each of them takes, with the plan made from it. TestKept compares
// them with measurements.
const (
	expressionBytes  = 3_200
	nodeBytes        = 500
	typeBytes        = 100
	instructionBytes = 44
	sourceBytes      = 10
)

// add counts a node.
func (k *kept) add(x ast.Expr) {
	k.nodes++
	arg := patternOf(x)
	if arg == nil {
		return
	}
	if text, ok := LiteralString(arg); ok {
		size, _ := expr.PatternSize(text) // its syntax was checked
		k.instructions += size
	}
}

// sum adds one expression.
func (k *kept) sum(o kept) {
	k.expressions++
	k.nodes, k.types, k.instructions, k.bytes = k.nodes+o.nodes, k.types+o.types, k.instructions+o.instructions, k.bytes+o.bytes
}

// size returns the bytes.
func (k *kept) size() int {
	return k.expressions*expressionBytes + k.nodes*nodeBytes + k.types*typeBytes + k.instructions*instructionBytes + k.bytes*sourceBytes
}
