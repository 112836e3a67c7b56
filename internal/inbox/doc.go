// Package inbox says what waits for a person. It reads what is known of an action, and judges it: for the kubectl plugin, and
// for the page of the gateway, which must not disagree.
package inbox
