package layout

import (
	"fmt"
	"slices"
	"strings"
)

// Module is the path of this repository's module.
const Module = "github.com/taskonce/taskonce"

// Package is what the rules need to know of one package: imports of its tests do not count.
type Package struct {
	ImportPath string
	Imports    []string // what its files import
	Deps       []string // all that these import in turn
}

// Rule judges one import. Within applies to what is inside the repository's folder of that name.
type Rule struct {
	Within string
	Reason string
	// Deep applies the rule to what is imported indirectly, too.
	Deep bool
	// Forbids says whether a package of the folder must not import the other.
	Forbids func(from, to string) bool
}

// concreteEffects is where effects live that are bound to one technology, one folder for each.
const concreteEffects = Module + "/internal/effect/"

// effectTest is the conformance suite and the fake: nobody's sibling.
const effectTest = concreteEffects + "effecttest"

// pureImports is what lifecycle may import beside the standard library: the kinds, and the types that they are made of.
var pureImports = []string{
	Module + "/api/v1alpha1",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", // for its type JSON
	"k8s.io/apimachinery/pkg/api/meta",                         // for its functions over conditions
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/types",
}

// worldly is what the standard library offers to reach the world with, or to guess.
var worldly = []string{"context", "crypto/rand", "math/rand", "math/rand/v2", "net", "net/http", "os", "sync", "sync/atomic", "syscall"}

// Rules are all of them.
var Rules = []Rule{
	{
		Within: "internal/lifecycle",
		Reason: "judgement is pure: it knows the kinds, and neither client nor world",
		Forbids: func(_, to string) bool {
			return slices.Contains(worldly, to) || (!standard(to) && !slices.Contains(pureImports, to))
		},
	},
	{
		Within: "internal/effect",
		Reason: "an effect knows neither its siblings nor who calls it",
		Deep:   true,
		Forbids: func(from, to string) bool {
			return inside(to, "internal/controller") || inside(to, "internal/record") ||
				(isConcreteEffect(to) && effectOf(to) != effectOf(from))
		},
	},
	{
		Within:  "internal/controller",
		Reason:  "the controller works with any effect",
		Deep:    true,
		Forbids: func(_, to string) bool { return isConcreteEffect(to) },
	},
	{
		Within: "",
		Reason: "only cmd/manager chooses the effects",
		Forbids: func(from, to string) bool {
			return isConcreteEffect(to) && !inside(from, "cmd/manager") && effectOf(from) != effectOf(to)
		},
	},
	{
		Within: "internal/gateway",
		Reason: "the gateway submits as any client does: records and the operator's work are not its business",
		Deep:   true,
		Forbids: func(_, to string) bool {
			return inside(to, "internal/controller") || inside(to, "internal/record") || inside(to, "internal/admission") || isConcreteEffect(to)
		},
	},
	{
		Within:  "api",
		Reason:  "clients import the kinds, and nothing of the operator with them",
		Deep:    true,
		Forbids: func(_, to string) bool { return inside(to, "") && !inside(to, "api") },
	},
	{
		Within:  "pkg",
		Reason:  "a client brings the kinds along, and nothing of the operator",
		Deep:    true,
		Forbids: func(_, to string) bool { return inside(to, "") && !inside(to, "api") && !inside(to, "pkg") },
	},
	{
		Within:  "internal",
		Reason:  "the operator does not depend on its tests, programs or examples",
		Forbids: func(_, to string) bool { return inside(to, "test") || inside(to, "cmd") || inside(to, "examples") },
	},
}

// Violations returns a sentence for each import that a rule forbids.
func Violations(packages []Package) []string {
	var found []string
	for _, p := range packages {
		for _, rule := range Rules {
			if !inside(p.ImportPath, rule.Within) {
				continue
			}
			imports := p.Imports
			if rule.Deep {
				imports = p.Deps
			}
			for _, to := range imports {
				if rule.Forbids(p.ImportPath, to) {
					found = append(found, fmt.Sprintf("%s imports %s: %s", p.ImportPath, to, rule.Reason))
				}
			}
		}
	}
	return found
}

// inside says whether the package is the repository's folder of that name, or below it.
func inside(importPath, folder string) bool {
	parent := strings.TrimSuffix(Module+"/"+folder, "/")
	return importPath == parent || strings.HasPrefix(importPath, parent+"/")
}

// standard says whether the package is of the standard library: the first element of any other has a dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func isConcreteEffect(importPath string) bool {
	return effectOf(importPath) != "" && importPath != effectTest
}

// effectOf returns the name of the effect that the package is part of, or nothing.
func effectOf(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, concreteEffects)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}
