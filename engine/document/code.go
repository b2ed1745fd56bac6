package document

// Code names what is wrong, so that tools and comments can refer to it. Every code
// has a page docs/checks/CODE.md.
type Code string

// What may be wrong with a document by itself, or with one expression.
const (
	// Invalid is any error without a code of its own.
	Invalid         Code = "invalid"
	SkippedDocument Code = "skipped-document"
	NullComparison  Code = "null-comparison"
	QuantityAsText  Code = "quantity-as-text"
	// QuantityOfNumber is about quantity(x), which takes texts only.
	QuantityOfNumber Code = "quantity-of-number"
	QuadraticLoop    Code = "quadratic-loop"
	OptionalInText   Code = "optional-in-text"
	ListInText       Code = "list-in-text"
	NameAsText       Code = "name-as-text"
	RefusedChoice    Code = "refused-choice"
)

// What may be wrong with a policy.
const (
	UnindexedJoin        Code = "unindexed-join"
	NoRules              Code = "no-rules"
	EmptyRule            Code = "empty-rule"
	ComputedOwner        Code = "computed-owner"
	UnknownSchema        Code = "unknown-schema"
	UnknownKind          Code = "unknown-kind"
	InvalidName          Code = "invalid-name"
	MissingName          Code = "missing-name"
	OptionalWithoutInput Code = "optional-without-input"
	SelectWithoutThen    Code = "select-without-then"
	UnusedVariable       Code = "unused-variable"
	UnusedInput          Code = "unused-input"
	UnusedParam          Code = "unused-param"
	UnusedRego           Code = "unused-rego"
	RegoInput            Code = "rego-input"
	UnreadKey            Code = "unread-key"
	UnknownPolicy        Code = "unknown-policy"
	MissingAllowance     Code = "missing-allowance"
	AbsentField          Code = "absent-field"
	NullInput            Code = "null-input"
	SelfFeeding          Code = "self-feeding"
	UnreachableCase      Code = "unreachable-case"
	CaseOverlap          Code = "case-overlap"
	CaseGap              Code = "case-gap"
	NeverFires           Code = "never-fires"
	NeverEqual           Code = "never-equal"
	ConflictingWriters   Code = "conflicting-writers"
	FeedbackLoop         Code = "feedback-loop"
	MissingField         Code = "missing-field"
	NotKept              Code = "not-kept"
	NoRemovalLimit       Code = "no-removal-limit"
	WholeObject          Code = "whole-object"
	Authority            Code = "authority"
	UnownedSource        Code = "unowned-source"
)

// What may be wrong with a comment that accepts a finding.
const (
	AcceptanceInvalid Code = "acceptance-invalid"
	AcceptanceUnused  Code = "acceptance-unused"
)

// Severities are the codes, each with its severity.
var Severities = map[Code]Severity{
	Invalid: Error, SkippedDocument: Warning, NullComparison: Warning, QuantityAsText: Warning, QuantityOfNumber: Warning, QuadraticLoop: Warning,
	OptionalInText: Warning, ListInText: Error, NameAsText: Warning, RefusedChoice: Warning,
	UnindexedJoin: Warning, NoRules: Warning, EmptyRule: Warning, ComputedOwner: Warning, UnknownSchema: Warning,
	UnknownKind: Error, InvalidName: Error, MissingName: Error, OptionalWithoutInput: Error, SelectWithoutThen: Warning,
	UnusedVariable: Warning, UnusedInput: Warning, UnusedParam: Warning, UnusedRego: Warning, RegoInput: Warning,
	UnreadKey: Warning, UnknownPolicy: Warning, MissingAllowance: Warning, AbsentField: Warning, NullInput: Warning,
	SelfFeeding: Warning, UnreachableCase: Warning, CaseOverlap: Note, CaseGap: Note, NeverFires: Warning, NeverEqual: Warning,
	ConflictingWriters: Warning, FeedbackLoop: Warning,
	MissingField: Warning, NotKept: Warning, NoRemovalLimit: Warning, WholeObject: Note, Authority: Note, UnownedSource: Warning,
	AcceptanceInvalid: Warning, AcceptanceUnused: Warning,
}

// At returns a problem with this code at a place; its severity is that of the code.
func (c Code) At(at Position, hint, message string) Problem {
	return Problem{Position: at, Severity: Severities[c], Code: c, Message: message, Hint: hint}
}
