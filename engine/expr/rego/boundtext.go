package rego

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/expr"
)

// Limits of texts that a function takes for something else.
const (
	// maxDigits is the longest number that is calculated with.
	maxDigits = 400
	// maxSum is how many digits the numbers of a sum or product have together.
	maxSum = 20_000
	// maxPattern and maxGlobbed are the longest pattern, and the longest text
	// that one is matched against, in bytes.
	maxPattern = 256
	maxGlobbed = 4 << 10
	// maxProgram is the largest program of a pattern, in instructions.
	maxProgram = 10_000
	// maxMatch bounds the instructions of a regular expression times the bytes
	// of the text: what a match may cost.
	maxMatch = 5_000_000
)

// tame says whether a number is short and within the range of a double.
func tame(n ast.Number) bool { return len(n) <= maxDigits && tameExponent(string(n)) }

func tameExponent(s string) bool {
	at := strings.LastIndexAny(s, "eE")
	if at < 0 {
		return true
	}
	digits := strings.TrimLeft(s[at+1:], "+-0")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		digits = digits[:end]
	}
	if digits == "" {
		return true
	}
	exponent, err := strconv.Atoi(digits)
	return err == nil && exponent <= 308
}

// numeric is for a function of numbers, or of a collection of numbers.
func numeric(l *limiter, args []*ast.Term) {
	for _, t := range args {
		sum := 0
		check := func(t *ast.Term) {
			n, ok := t.Value.(ast.Number)
			if ok && !tame(n) {
				l.stop("it calculates with a number of more than %d digits", maxDigits)
			}
			if ok && n != "0" && n != "1" {
				sum += len(n)
			}
		}
		check(t)
		each(t, check)
		if sum > maxSum {
			l.stop("it calculates with numbers of more than %d digits", maxSum)
		}
		l.work(size(t) / itemsPerStep)
	}
}

// numeral is for a function that reads a number from a text.
func numeral(l *limiter, args []*ast.Term) {
	s := text(args[0])
	if len(s) > maxDigits || !tameExponent(s) {
		l.stop("it reads a number of more than %d digits", maxDigits)
	}
}

// decoded is for a function that reads JSON: each node of a value but the
// first has a comma, a colon or a bracket before it.
func decoded(l *limiter, args []*ast.Term) {
	s := text(args[0])
	nodes := 1
	for i := range len(s) {
		switch s[i] {
		case ',', ':', '[':
			nodes++
		}
	}
	if nodes > MaxNodes/2 {
		l.stop("it reads a value of more than %d nodes", MaxNodes/2)
	}
	if longExponent.MatchString(s) {
		l.stop("it reads a number of more than %d digits", maxDigits)
	}
	l.text(len(s))
	l.work(nodes / nodesPerStep)
}

// longExponent finds 1e999999999, and numbers as long, wherever they stand.
var longExponent = regexp.MustCompile(`[0-9.][eE][+-]?0*[1-9][0-9]{3}|[0-9]{400}`)

// widths are the widths and precisions of a format.
var widths = regexp.MustCompile(`%[^a-zA-Z%]*`)

// formatted counts what sprintf builds: the format, its widths, and the
// arguments as often as they may stand in it.
func formatted(l *limiter, args []*ast.Term) {
	format := text(args[0])
	sum := len(format)
	for _, verb := range widths.FindAllString(format, -1) {
		if strings.ContainsAny(verb, "*[") {
			l.stop("it uses a format with * or [, which has no bound")
		}
		sum += width(verb)
	}
	each(args[1], func(t *ast.Term) {
		sum += l.weigh(t) * bytesPerNode
		if n, ok := t.Value.(ast.Number); ok && !tame(n) {
			l.stop("it writes a number of more than %d digits", maxDigits)
		}
	})
	l.text(sum)
}

// width adds up the numbers in a verb such as %08.3.
func width(verb string) int {
	sum := 0
	for _, digits := range strings.FieldsFunc(verb, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(digits)
		if err != nil || n > MaxText {
			return MaxText + 1
		}
		sum += n
	}
	return sum
}

// pattern is for regular expressions. Matching takes time with the length of
// the text and the size of the program, which may be far larger than what is
// written: (a{30}){30} has nine hundred instructions.
func pattern(l *limiter, args []*ast.Term) {
	source := text(args[0])
	if len(source) > maxPattern {
		l.stop("it uses a pattern of more than %d bytes", maxPattern)
		return
	}
	length := 1
	if len(args) > 1 {
		length += len(text(args[1]))
	}
	size, err := expr.PatternSize(source)
	if err != nil {
		size = 1 // the function says what is wrong with it
	}
	if size > maxProgram {
		l.stop("it uses a pattern of more than %d instructions", maxProgram)
		return
	}
	cost := size * length
	if cost > maxMatch {
		l.stop("it matches a text that is too long for its pattern")
		return
	}
	l.work(1 + cost/bytesPerStep + size) // to match it, and to compile it
}

func glob(l *limiter, args []*ast.Term) {
	source, matched := len(text(args[0])), len(text(args[2]))
	if source > maxPattern {
		l.stop("it uses a pattern of more than %d bytes", maxPattern)
	}
	if matched > maxGlobbed {
		l.stop("it matches a text of more than %d bytes", maxGlobbed)
	}
	l.work(1 + source*matched/bytesPerStep)
}
