// Package explore tests the page of edict explore in a real browser: Chromium,
// without a window. It also makes the pictures of the documentation.
package explore
