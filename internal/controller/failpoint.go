//go:build !faults

package controller

// failpoint marks a place between two effects on the world where a process may die. Tests build with the tag
// "faults", where it can be told to; here it is nothing.
func failpoint(string) {}
