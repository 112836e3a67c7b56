package gateway

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// What each operation may answer, for the interface's description. Answers with a body that the library knows are added by it.
var (
	submitAnswers = answers(
		map[int]string{201: "It happened: now, or (Idempotency-Replayed) before.", 202: "It is submitted, and not finished: ask Location after Retry-After."},
		keyMissing, invalidKey, invalidParameters, notTold, noSuchNamespace, slowBody, inProcess, keyBlocked, tooLarge, unsupported, keyReused, notApplied, unanswered)
	findAnswers   = answers(map[int]string{200: "The submission as it is."}, invalidKey, notFound)
	getAnswers    = answers(map[int]string{200: "The submission as it is."}, notFound)
	followAnswers = answers(map[int]string{200: "Server-sent events: submission, each time that it changes; gone, when it is deleted.", 204: "It has finished, and Last-Event-ID has said so."}, notFound)
)

// everywhere are what any request may be answered with.
var everywhere = []ProblemType{invalidRequest, unauthenticated, forbidden, noSuchPath, wrongMethod, tooMany, internal, unavailable}

// headersOf are those that an answer of a status may have, beside those that the library knows of.
var headersOf = map[string][]string{
	"202": {"Location", "Preference-Applied", "Retry-After"},
	"400": {"Location", headerReplayed}, // where it was created, and failed for its input
	"401": {"WWW-Authenticate"},
	"405": {"Allow"},
	"409": {"Location", "Retry-After"},
	"422": {"Location", headerReplayed},
	"424": {"Location", headerReplayed},
	"429": {"Retry-After"},
	"503": {"Retry-After"},
}

func answers(good map[int]string, types ...ProblemType) map[string]*huma.Response {
	all := map[string]*huma.Response{}
	for status, text := range good {
		all[strconv.Itoa(status)] = &huma.Response{Description: text}
	}
	for _, t := range append(slices.Clone(everywhere), types...) {
		status := strconv.Itoa(t.Status)
		text := t.Name + ": " + t.Title + "."
		if other, taken := all[status]; taken {
			other.Description += " " + text
		} else {
			all[status] = &huma.Response{Description: text}
		}
	}
	for status, response := range all {
		for _, name := range headersOf[status] {
			if response.Headers == nil {
				response.Headers = map[string]*huma.Param{}
			}
			response.Headers[name] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString}}
		}
	}
	return all
}

// describe adds the schema of problems, and that of a view where the library cannot know that there is one.
func describe(api huma.API) {
	registry := api.OpenAPI().Components.Schemas
	problem := registry.Schema(reflect.TypeFor[Problem](), true, "Problem")
	view := registry.Schema(reflect.TypeFor[View](), true, "View")
	for _, path := range api.OpenAPI().Paths {
		for _, operation := range []*huma.Operation{path.Get, path.Post} {
			if operation == nil {
				continue
			}
			for status, response := range operation.Responses {
				switch {
				case status >= "400":
					response.Content = map[string]*huma.MediaType{"application/problem+json": {Schema: problem}}
				case operation.OperationID == "follow" && status == "200":
					response.Content = map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}
				case status != "204":
					response.Content = map[string]*huma.MediaType{"application/json": {Schema: view}}
				}
			}
		}
	}
}
