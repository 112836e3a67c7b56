// Package plan is a TaskTemplate made ready for use: its schema, its key expressions and its effect, compiled.
package plan
