package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/dbserver"
	"github.com/taskonce/taskonce/test/harness"
)

// patience is for one submission, on a busy machine.
const patience = 2 * time.Minute

// world is everything that the steps play in.
type world struct {
	dir        string
	plane      *harness.ControlPlane
	api        client.Client
	namespace  string
	server     *dbserver.Server
	proxy      *dbserver.Proxy
	db         *sql.DB
	kubeconfig string
	manager    *harness.Process
}

// open brings everything up. What it returns must be shut, also on an error.
func open(ctx context.Context) (w *world, err error) {
	w = &world{}
	if w.dir, err = os.MkdirTemp("", "taskonce-demosql-"); err != nil {
		return w, err
	}
	var work errgroup.Group
	work.Go(func() (err error) {
		w.plane, err = harness.Start(harness.Options{CRDs: true})
		return err
	})
	work.Go(func() error { return w.openDatabase(ctx) })
	work.Go(func() error { return harness.Build(ctx, w.dir, "", "./cmd/manager") })
	if err := work.Wait(); err != nil {
		return w, err
	}
	if w.kubeconfig, err = w.plane.ManagerKubeconfig(ctx); err != nil {
		return w, err
	}
	if err := w.applySamples(ctx); err != nil {
		return w, err
	}
	return w, w.startManager(ctx)
}

func (w *world) openDatabase(ctx context.Context) (err error) {
	if w.server, err = dbserver.Start(ctx, v1alpha1.PostgreSQL); err != nil {
		return err
	}
	if w.proxy, err = dbserver.NewProxy(w.server); err != nil {
		return err
	}
	if err := w.server.Exec(ctx, "", "CREATE DATABASE shop"); err != nil {
		return err
	}
	if w.db, err = w.server.Open("shop"); err != nil {
		return err
	}
	w.db.SetMaxIdleConns(0) // a server that is killed leaves none behind
	return errors.Join(
		w.exec(ctx, "CREATE TABLE orders (id integer PRIMARY KEY, status text NOT NULL)"),
		w.exec(ctx, "CREATE TABLE order_events (order_id integer NOT NULL, event text NOT NULL, reason text)"),
	)
}

// applySamples makes the sample's template, and a Secret with the proxy's DSN. The operator creates the ledger.
func (w *world) applySamples(ctx context.Context) (err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return err
	}
	if w.api, err = client.New(w.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if w.namespace, err = w.plane.Namespace(ctx); err != nil {
		return err
	}
	root, err := harness.Root()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "samples", "sql", "template-close-order.yaml"))
	if err != nil {
		return err
	}
	template := &v1alpha1.TaskTemplate{}
	if err := yaml.UnmarshalStrict(text, template); err != nil {
		return err
	}
	template.Namespace = w.namespace
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop-db"}, StringData: map[string]string{"dsn": w.server.DSN("shop", w.proxy.Port)}}
	return errors.Join(w.api.Create(ctx, secret), w.api.Create(ctx, template))
}

func (w *world) startManager(ctx context.Context) (err error) {
	w.manager, err = harness.Manager{Program: filepath.Join(w.dir, "manager"), Kubeconfig: w.kubeconfig, Log: filepath.Join(w.dir, "manager.log")}.Start(ctx)
	return err
}

func (w *world) restartManager(ctx context.Context) error {
	w.manager.Kill()
	w.proxy.Lose(dbserver.LoseNothing)
	return w.startManager(ctx)
}

func (w *world) restartDatabase(ctx context.Context) error {
	w.server.Kill()
	w.proxy.Lose(dbserver.LoseNothing)
	return w.server.Restart(ctx)
}

func name(order int) string { return fmt.Sprintf("close-order-%d", order) }

func (w *world) submit(ctx context.Context, name string, order int) error {
	return w.api.Create(ctx, &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: v1alpha1.TaskSubmissionSpec{
			TemplateRef: v1alpha1.TemplateRef{Name: "close-order"},
			Parameters:  apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"orderId": %d, "reason": "not paid"}`, order)},
		},
	})
}

// finished waits until a submission has come to its end.
func (w *world) finished(ctx context.Context, name string) (*v1alpha1.TaskSubmission, error) {
	submission := &v1alpha1.TaskSubmission{}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := w.api.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, submission)
		return submission.Status.Phase.Terminal(), err
	})
	if err != nil {
		err = fmt.Errorf("%s is %s/%s (%s): %w", name, submission.Status.Phase, submission.Status.Reason, submission.Status.Message, err)
	}
	return submission, err
}

func (w *world) exec(ctx context.Context, statement string) error {
	_, err := w.db.ExecContext(ctx, statement)
	return err
}

func (w *world) count(ctx context.Context, query string) (n int, err error) {
	return n, w.db.QueryRowContext(ctx, query).Scan(&n)
}

// agree returns what does not fit: an order is closed, has one event and one row of the ledger, or none of these.
func (w *world) agree(ctx context.Context) (string, error) {
	odd, err := w.count(ctx, `SELECT count(*) FROM orders o WHERE
		(SELECT count(*) FROM order_events e WHERE e.order_id = o.id) <> CASE WHEN o.status = 'CLOSED' THEN 1 ELSE 0 END
		OR (SELECT count(*) FROM taskonce_ledger l WHERE l.biz_id = o.id::text) <> CASE WHEN o.status = 'CLOSED' THEN 1 ELSE 0 END`)
	if err != nil || odd == 0 {
		return "", err
	}
	return fmt.Sprintf("%d orders do not agree", odd), nil
}

// shut ends whatever runs.
func (w *world) shut() error {
	var errs []error
	if w.manager != nil {
		w.manager.Kill()
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	if w.proxy != nil {
		w.proxy.Close()
	}
	if w.server != nil {
		errs = append(errs, w.server.Stop())
	}
	if w.plane != nil {
		errs = append(errs, w.plane.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}
