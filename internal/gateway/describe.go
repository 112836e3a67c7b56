package gateway

import (
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// What each operation may answer, for the interface's description. Answers with a body that the library knows are added by it.
var (
	submitAnswers = answers(
		map[int]string{201: "It happened: now, or (Idempotency-Replayed) before.", 202: "It is submitted, and not finished: ask Location after Retry-After."},
		keyMissing, unauthenticated, forbidden, notTold, notFound, inProcess, tooLarge, unsupported, keyReused, notApplied, tooMany, internal, unavailable)
	readAnswers   = answers(map[int]string{200: "The submission as it is."}, invalidKey, unauthenticated, forbidden, notFound, tooMany, internal, unavailable)
	followAnswers = answers(map[int]string{200: "Server-sent events: submission, each time that it changes; gone, when it is deleted.", 204: "It has finished, and Last-Event-ID has said so."},
		unauthenticated, forbidden, notFound, tooMany, internal, unavailable)
)

func answers(good map[int]string, kinds ...Kind) map[string]*huma.Response {
	all := map[string]*huma.Response{}
	for status, text := range good {
		all[strconv.Itoa(status)] = &huma.Response{Description: text}
	}
	for _, kind := range kinds {
		status := strconv.Itoa(kind.Status)
		if other, taken := all[status]; taken {
			other.Description += ". Or: " + kind.Title
		} else {
			all[status] = &huma.Response{Description: kind.Title}
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
