package gateway

import (
	"encoding/json"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Object is a JSON object, kept as it was written.
type Object struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// View is a submission as it is shown.
type View struct {
	Name           string          `json:"name" doc:"Its name, which is computed from its key."`
	IdempotencyKey string          `json:"idempotencyKey"`
	Template       string          `json:"template"`
	Parameters     Object          `json:"parameters"`
	Phase          string          `json:"phase" enum:"Pending,Processing,Success,Failed" doc:"Success: it happened, once. Failed: it certainly did not happen."`
	Reason         string          `json:"reason" doc:"Why it is in this phase, in one word from a closed list."`
	Message        string          `json:"message,omitempty" doc:"The same for a person, in one sentence."`
	Attempts       int32           `json:"attempts,omitempty" doc:"How many attempts were begun."`
	Result         json.RawMessage `json:"result,omitempty" doc:"What the effect returned."`
	ResultDigest   string          `json:"resultDigest,omitempty" doc:"The digest of the whole result as canonical JSON."`
	DuplicateOf    string          `json:"duplicateOf,omitempty" doc:"The submission whose result this is, where another one was first for the same business key."`
	Replayed       bool            `json:"replayed,omitempty" doc:"An earlier submission of this key had the outcome already."`
	StartedAt      *metav1.Time    `json:"startedAt,omitempty" doc:"When the first attempt was begun."`
	CompletedAt    *metav1.Time    `json:"completedAt,omitempty" doc:"When it became Success or Failed."`
}

func viewOf(s *v1alpha1.TaskSubmission) *View {
	view := &View{
		Name: s.Name, IdempotencyKey: s.Key(), Template: s.Spec.TemplateRef.Name, Parameters: Object{s.Spec.Parameters.Raw},
		Phase: string(s.Status.Phase), Reason: string(s.Status.Reason), Message: s.Status.Message, Attempts: s.Status.Attempts,
		ResultDigest: s.Status.ResultDigest, DuplicateOf: s.Status.DuplicateOf, Replayed: s.Status.Replayed,
		StartedAt: s.Status.StartedAt, CompletedAt: s.Status.CompletedAt,
	}
	if len(view.Parameters.RawMessage) == 0 {
		view.Parameters.RawMessage = json.RawMessage("{}")
	}
	if s.Status.Result != nil {
		view.Result = s.Status.Result.Raw
	}
	if view.Phase == "" { // nobody has looked at it yet
		view.Phase = string(v1alpha1.PhasePending)
	}
	return view
}

// location is where a submission is found.
func location(s *v1alpha1.TaskSubmission) string {
	return "/v1/namespaces/" + url.PathEscape(s.Namespace) + "/submissions/" + url.PathEscape(s.Name)
}
