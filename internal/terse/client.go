// Package terse writes our objects and has the API server answer with their metadata alone. What was written is known;
// to send it back, and to read it, takes both sides' time for nothing.
package terse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// metadataOnly asks for partial metadata (Kubernetes API concepts, "Alternate representations of resources"), as protobuf,
// which custom resources have for nothing else.
const metadataOnly = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

const (
	records     = "taskrecords"
	submissions = "tasksubmissions"
)

// Client creates and updates records, and updates the status of submissions, so that the object has the metadata that
// was stored and is otherwise what was sent: the API server fills nothing in there. All else it does as the client in it.
type Client struct {
	client.Client
	api rest.Interface
}

// NewClient is what a manager makes its client with (manager.Options.NewClient).
func NewClient(config *rest.Config, options client.Options) (client.Client, error) {
	if options.HTTPClient == nil {
		return nil, errors.New("the manager gave no connection to write through: this is a fault of the operator")
	}
	inner, err := client.New(config, options)
	if err != nil {
		return nil, err
	}
	return New(config, options.HTTPClient, inner)
}

// New returns a client that writes through a connection to the API server that config describes.
func New(config *rest.Config, connection *http.Client, inner client.Client) (*Client, error) {
	config = metadata.ConfigFor(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	api, err := rest.RESTClientForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("a client for %s: %w", v1alpha1.GroupVersion, err)
	}
	return &Client{Client: inner, api: api}, nil
}

// Create stores a new object.
func (c *Client) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	record, ok := object.(*v1alpha1.TaskRecord)
	if !ok || len(options) > 0 {
		return c.Client.Create(ctx, object, options...)
	}
	return write(ctx, c.api.Post().Resource(records), &record.ObjectMeta, whole(record))
}

// Update replaces an object, by compare-and-swap on its resource version.
func (c *Client) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	record, ok := object.(*v1alpha1.TaskRecord)
	if !ok || len(options) > 0 {
		return c.Client.Update(ctx, object, options...)
	}
	return write(ctx, c.api.Put().Resource(records).Name(record.Name), &record.ObjectMeta, whole(record))
}

// Status returns a client for the status of objects.
func (c *Client) Status() client.SubResourceWriter {
	return &status{SubResourceWriter: c.Client.Status(), api: c.api}
}

type status struct {
	client.SubResourceWriter
	api rest.Interface
}

// Update replaces an object's status, by compare-and-swap on its resource version. Nothing else of a submission is sent:
// the API server would take nothing else from it.
func (s *status) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	submission, ok := object.(*v1alpha1.TaskSubmission)
	if !ok || len(options) > 0 {
		return s.SubResourceWriter.Update(ctx, object, options...)
	}
	request := s.api.Put().Resource(submissions).Name(submission.Name).SubResource("status")
	return write(ctx, request, &submission.ObjectMeta, statusOf(submission))
}

// body is what is sent of an object.
type body struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta              `json:"metadata"`
	Spec            *v1alpha1.TaskRecordSpec       `json:"spec,omitempty"`
	Status          *v1alpha1.TaskSubmissionStatus `json:"status,omitempty"`
}

func whole(record *v1alpha1.TaskRecord) body {
	return body{TypeMeta: kind("TaskRecord"), Metadata: record.ObjectMeta, Spec: &record.Spec}
}

func statusOf(submission *v1alpha1.TaskSubmission) body {
	is := metav1.ObjectMeta{Namespace: submission.Namespace, Name: submission.Name, UID: submission.UID, ResourceVersion: submission.ResourceVersion}
	return body{TypeMeta: kind("TaskSubmission"), Metadata: is, Status: &submission.Status}
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: name}
}

// write sends a body, and takes the metadata over that is stored then.
func write(ctx context.Context, request *rest.Request, into *metav1.ObjectMeta, body body) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	result := request.Namespace(into.Namespace).SetHeader("Accept", metadataOnly).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(text).Do(ctx)
	answer, err := result.Get()
	if runtime.IsNotRegisteredError(err) {
		return takeWhole(result, into)
	}
	if err != nil {
		return err
	}
	stored, ok := answer.(*metav1.PartialObjectMetadata)
	if !ok {
		return fmt.Errorf("the API server answered a write with %T in place of metadata", answer)
	}
	*into = stored.ObjectMeta
	return nil
}

// takeWhole takes the metadata from the whole object, which is what something between us and the API server
// makes it send that drops or changes our Accept header.
func takeWhole(result rest.Result, into *metav1.ObjectMeta) error {
	text, err := result.Raw()
	if err != nil {
		return err
	}
	var stored metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &stored); err != nil || stored.UID == "" {
		return errors.Join(errors.New("a write was answered with what is no object: something between the operator and the API server changes its answers"), err)
	}
	*into = stored.ObjectMeta
	return nil
}
