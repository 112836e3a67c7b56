package submit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// One action from its key to its result.
func Example() {
	if err := award(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func award(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	client, err := submit.Connect(config)
	if err != nil {
		return err
	}
	action, err := client.Prepare(submit.Action{
		Namespace:  "default",
		Key:        submit.Key("award", "task-42", "stu-7"),
		Template:   "award-points",
		Parameters: map[string]any{"taskId": 42, "studentId": "stu-7", "submitVersion": 3, "points": 10},
	})
	if err != nil {
		return err // the key or the parameters are wrong
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	done, err := action.Wait(ctx)
	if err != nil {
		return err // call it again, also from another process
	}
	if done.Status.Phase == v1alpha1.PhaseFailed {
		return fmt.Errorf("it certainly did not happen: %s", done.Status.Message)
	}
	fmt.Println("it happened once:", string(done.Status.Result.Raw))
	return nil
}

// What a Submit can come to.
func ExampleSubmission_Submit() {
	var action *submit.Submission // as Client.Prepare returns it
	// It tries until ctx ends.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	receipt, err := action.Submit(ctx)

	var other *submit.OtherPayloadError
	var refused *submit.RefusedError
	var unknown *submit.UnknownError
	switch {
	case errors.As(err, &other):
		fmt.Println("the key is taken by another action:", other.Existing.Spec.TemplateRef.Name)
	case errors.As(err, &refused):
		fmt.Println("nothing was created:", refused)
	case errors.As(err, &unknown):
		fmt.Println("it may have been created: keep the key and submit again later")
	case err != nil:
		fmt.Println("nothing was sent:", err)
	case receipt.Answer == submit.Duplicate:
		fmt.Println("somebody submitted the same action before:", receipt.Object.CreationTimestamp)
	default:
		fmt.Println("submitted")
	}
}

// A process that was restarted keeps nothing but what makes the key.
func ExampleClient_Wait() {
	var client *submit.Client // as Connect returns it
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done, err := client.Wait(ctx, "default", submit.Key("award", "task-42", "stu-7"))
	var gone *submit.GoneError
	if errors.As(err, &gone) {
		fmt.Println("it was deleted, or never arrived: submit it again, and what it came to is told again")
		return
	}
	if err == nil {
		fmt.Println(done.Status.Phase, done.Status.Reason)
	}
}
