// Package web holds the tests of the pages in a real browser: Node drives Chromium, and the effects are counted in
// the receiver's ledger. What is played is in *.test.mjs.
package web
