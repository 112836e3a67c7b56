package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/taskonce/taskonce/test/harness"
)

// configuration has the operator scraped as config/prometheus/monitor.yaml has it, and of the API server's metrics what
// the dashboard asks for.
const configuration = `global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%[1]s]
scrape_configs:
- job_name: taskonce
  scheme: https
  tls_config: {insecure_skip_verify: true}
  bearer_token_file: %[2]s
  static_configs: [{targets: ["%[3]s"]}]
- job_name: apiserver
  scheme: https
  tls_config: {insecure_skip_verify: true}
  bearer_token_file: %[2]s
  static_configs: [{targets: ["%[4]s"]}]
  metric_relabel_configs: [{source_labels: [__name__, group], regex: "apiserver_request_total;taskonce.dev", action: keep}]
`

// prometheus is the server.
type prometheus struct {
	api prometheusv1.API
}

// startPrometheus returns when both are scraped, and the operator shows all templates.
func (w *world) startPrometheus(ctx context.Context) (*prometheus, error) {
	address, err := harness.UnusedAddress()
	if err != nil {
		return nil, err
	}
	config, err := w.configure(ctx)
	if err != nil {
		return nil, err
	}
	process, err := harness.Launch("prometheus", w.path("prometheus.log"), nil, "prometheus",
		"--config.file="+config, "--storage.tsdb.path="+w.path("prometheus"), "--web.listen-address="+address, "--log.level=warn")
	if err != nil {
		return nil, fmt.Errorf("%w; make prometheus installs it", err)
	}
	w.close = append(w.close, func() error { process.Kill(); return nil })
	if err := process.Await(ctx, func(ctx context.Context) bool { return harness.Answers(ctx, "http://"+address+"/-/ready") }); err != nil {
		return nil, err
	}
	connection, err := api.NewClient(api.Config{Address: "http://" + address})
	if err != nil {
		return nil, err
	}
	p := &prometheus{api: prometheusv1.NewAPI(connection)}
	return p, until(ctx, "the first scrapes", func(ctx context.Context) (bool, error) {
		up, err := p.instant(ctx, "sum(up) * on () count(taskonce_business_key_conflicts_total)", p.now())
		return up[""] == 2*float64(w.templates), err
	})
}

// configure makes Prometheus somebody who may read metrics, and writes its configuration.
func (w *world) configure(ctx context.Context) (path string, err error) {
	token, err := w.mayReadMetrics(ctx)
	if err != nil {
		return "", err
	}
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	host, err := url.Parse(w.plane.Config.Host)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf(configuration, filepath.Join(root, "config", "prometheus", "rules.yaml"), w.path("token"), w.metrics, host.Host)
	path = w.path("prometheus.yaml")
	return path, errors.Join(os.WriteFile(w.path("token"), []byte(token), 0o600), os.WriteFile(path, []byte(text), 0o600))
}

// mayReadMetrics returns the token of a service account that has the role for it.
func (w *world) mayReadMetrics(ctx context.Context) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "prometheus"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus-reads-taskonce"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "taskonce-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: account.Name}},
	}
	if err := errors.Join(w.api.Create(ctx, account), w.api.Create(ctx, binding)); err != nil {
		return "", err
	}
	clients, err := kubernetes.NewForConfig(w.plane.Config)
	if err != nil {
		return "", err
	}
	answer, err := clients.CoreV1().ServiceAccounts(w.namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return answer.Status.Token, nil
}

func (p *prometheus) now() time.Time { return time.Now() }

// instant evaluates a query at one moment.
func (p *prometheus) instant(ctx context.Context, query string, at time.Time) (expectation, error) {
	value, _, err := p.api.Query(ctx, query, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	vector, ok := value.(model.Vector)
	if !ok {
		return nil, fmt.Errorf("%s gives a %s", query, value.Type())
	}
	answers := expectation{}
	for _, sample := range vector {
		answers[identity(textsOf(sample.Metric))] += float64(sample.Value)
	}
	return answers, nil
}

// samples returns what was scraped of a selector in a span of time.
func (p *prometheus) samples(ctx context.Context, selector string, from, to time.Time) (model.Matrix, error) {
	value, _, err := p.api.Query(ctx, fmt.Sprintf("%s[%dms]", selector, to.Sub(from).Milliseconds()), to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", selector, err)
	}
	return value.(model.Matrix), nil
}

// over evaluates a query at many moments.
func (p *prometheus) over(ctx context.Context, query string, from, to time.Time, step time.Duration) (model.Matrix, error) {
	value, _, err := p.api.QueryRange(ctx, query, prometheusv1.Range{Start: from, End: to, Step: step})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return value.(model.Matrix), nil
}

func textsOf(metric model.Metric) map[string]string {
	labels := map[string]string{}
	for name, value := range metric {
		labels[string(name)] = string(value)
	}
	return labels
}
