// Package backtest makes the decisions of a change log again with an edit of their
// policies, and says which turn out otherwise.
package backtest
