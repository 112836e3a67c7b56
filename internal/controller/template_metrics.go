package controller

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// FollowTemplates has the series of each template shown from the beginning, and dropped with its plan when it is deleted,
// on every replica: each counts what it sees at admission, and compiles what it is asked about there.
func FollowTemplates(ctx context.Context, templates cache.Cache, plans *Plans) error {
	informer, err := templates.GetInformer(ctx, &v1alpha1.TaskTemplate{})
	if err != nil {
		return err
	}
	show := func(object any) {
		if template, ok := object.(*v1alpha1.TaskTemplate); ok {
			telemetry.ShowTemplate(template.Name, telemetry.EffectOf(&template.Spec))
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    show,
		UpdateFunc: func(_, object any) { show(object) }, // its effect may be another one
		DeleteFunc: func(object any) {
			if unseen, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = unseen.Obj
			}
			template, ok := object.(*v1alpha1.TaskTemplate)
			if !ok {
				return
			}
			plans.Forget(client.ObjectKeyFromObject(template))
			if !anyNamed(ctx, templates, template.Name) {
				telemetry.ForgetTemplate(template.Name)
			}
		},
	})
	return err
}

// anyNamed reports whether some namespace has a template of a name; where that cannot be told, its series stay.
func anyNamed(ctx context.Context, templates client.Reader, name string) bool {
	list := &v1alpha1.TaskTemplateList{}
	if err := templates.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return true
	}
	for i := range list.Items {
		if list.Items[i].Name == name {
			return true
		}
	}
	return false
}
