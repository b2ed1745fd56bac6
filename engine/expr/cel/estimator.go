package cel

import (
	"math"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"
)

// estimator charges calls that were made: the API server's costs for its
// libraries, and the size of what goes in and out where types were not known.
// Calls that are charged ahead cost one unit more here.
type estimator struct{ library.CostEstimator }

var _ interpreter.ActualCostEstimator = (*estimator)(nil)

// CallCost implements interpreter.ActualCostEstimator.
func (e *estimator) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	if overload == ahead {
		cost := uint64(1)
		return &cost
	}
	if scanned[function] {
		cost := scan(args)
		return &cost
	}
	if cost := e.CostEstimator.CallCost(function, overload, args, result); cost != nil && overload != "" {
		return cost
	}
	if overload == "" {
		cost := traversal(args, result)
		return &cost
	}
	return nil
}

// scanned are functions that go through a text once, quickly, and build
// nothing; CEL's own table counts one unit whatever its length.
var scanned = map[string]bool{"size": true, "int": true, "uint": true, "double": true, "bool": true, "duration": true, "timestamp": true}

// scan charges a unit for every thousand bytes of texts.
func scan(args []ref.Val) uint64 {
	return 1 + uint64(textBytes(args[0]))/bytesPerUnit
}

// traversal charges a tenth of a unit for every element that goes in or out.
func traversal(args []ref.Val, result ref.Val) uint64 {
	size := sizeOf(result)
	for _, a := range args {
		size += sizeOf(a)
	}
	return 1 + uint64(math.Ceil(float64(size)/10))
}

func sizeOf(v ref.Val) int64 {
	switch v := v.(type) {
	case types.String:
		return int64(len(v))
	case *types.Optional:
		if v.HasValue() {
			return sizeOf(v.GetValue())
		}
	}
	sizer, ok := v.(traits.Sizer)
	if !ok {
		return 1
	}
	n, ok := sizer.Size().(types.Int)
	if !ok {
		return 1
	}
	return int64(n)
}
