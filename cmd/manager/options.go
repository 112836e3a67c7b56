package main

import (
	"errors"
	"flag"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/taskonce/taskonce/internal/effect/httpcall"
	"github.com/taskonce/taskonce/internal/effect/sqltx"
	"github.com/taskonce/taskonce/internal/setting"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// shutdownMargin is what the manager has beyond the grace period, to stop what has nothing left to store.
const shutdownMargin = 10 * time.Second

type options struct {
	setting.Common

	checkOnly               bool
	metricsAddress          setting.Address
	probeAddress            setting.Address
	webhookAddress          setting.Address
	webhookService          string
	webhookNamespace        string
	webhookSecret           string
	webhookConfigurations   string
	webhookCertDir          string
	leaderElect             bool
	leaderElectionNamespace string
	leaderElectionName      string
	leaseDuration           time.Duration
	renewDeadline           time.Duration
	retryPeriod             time.Duration
	workers                 int
	maxInFlight             int
	maxResponseBytes        int64
	maxSQLConnections       int
	sweepInterval           time.Duration
	sweepRate               int
	gracePeriod             time.Duration
	scope                   string
	allowLoopback           bool
	allowLinkLocal          bool
	namespaces              setting.Namespaces
	metricsAuthentication   string
	pprofAddress            setting.Address
	auditLog                string
	audit                   *telemetry.Audit // opened; nil where it is off
}

// parse reads and checks the flags, and where one is left out its environment variable, as setting.Parse does.
func parse(arguments []string, lookup func(string) (string, bool), output io.Writer) (*options, error) {
	o := &options{}
	if err := setting.Parse(o.flags(), arguments, lookup, output); err != nil {
		return nil, err
	}
	if o.VersionOnly() {
		return o, nil
	}
	return o, o.check()
}

// flags are all of them, with their defaults.
func (o *options) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	o.metricsAddress, o.probeAddress, o.webhookAddress, o.pprofAddress = ":8443", ":8081", ":9443", setting.Off
	flags.BoolVar(&o.checkOnly, "check", false, "Check that the CRDs are installed and the rights granted, and do nothing else.")
	flags.Var(&o.metricsAddress, "metrics-bind-address", "Where metrics are served, over HTTPS, for anyone who may read them; 0 turns them off.")
	flags.StringVar(&o.metricsAuthentication, "metrics-authentication", delegated, "Who may read the metrics: delegated asks the API server, which needs two rights on the whole cluster; none admits everybody who reaches the port.")
	flags.Var(&o.pprofAddress, "pprof-bind-address", "Where profiles are served under /debug/pprof/, over HTTP and for everybody who reaches the address, so bind it to 127.0.0.1; 0 turns them off.")
	flags.Var(&o.probeAddress, "health-probe-bind-address", "Where /healthz (the process lives) and /readyz (the API server answers, the caches are filled, the webhooks are served) are served; 0 turns them off.")
	flags.Var(&o.webhookAddress, "webhook-bind-address", "Where the admission webhooks are served; 0 turns them off.")
	flags.StringVar(&o.webhookService, "webhook-service-name", "taskonce-webhook-service", "The Service that the API server calls the webhooks by.")
	flags.StringVar(&o.webhookNamespace, "webhook-service-namespace", "", "The namespace of that Service, and of the Secret with its certificate; outside a cluster it must be given.")
	flags.StringVar(&o.webhookSecret, "webhook-secret-name", "taskonce-webhook-cert", "The Secret in which the replicas keep the webhooks' certificate. They make and renew it themselves.")
	flags.StringVar(&o.webhookConfigurations, "webhook-configuration-name", "taskonce-admission", "The webhook configurations, mutating and validating, into which the webhooks' CA is written.")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "A folder with tls.crt and tls.key that something else keeps, such as cert-manager, which then also fills in caBundle; they are read again when they change.")
	flags.Var(&o.namespaces, "namespaces", "The namespaces to work in, separated by commas; left out, all. With them the webhooks must be off (--webhook-bind-address=0), and Roles in those namespaces are enough if --metrics-authentication is none.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "Elect a leader, so that only one of several replicas works. The promise does not rest on it.")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "The namespace of the lease; outside a cluster it must be given.")
	flags.StringVar(&o.leaderElectionName, "leader-election-name", "taskonce.dev", "The name of the lease. Operators of one namespace that work in different ones need leases of different names, and each the right to its own.")
	flags.DurationVar(&o.leaseDuration, "leader-election-lease-duration", 15*time.Second, "How long the others wait for a leader that is silent before one of them takes over.")
	flags.DurationVar(&o.renewDeadline, "leader-election-renew-deadline", 10*time.Second, "How long a leader tries to renew its lease before it exits.")
	flags.DurationVar(&o.retryPeriod, "leader-election-retry-period", 2*time.Second, "The time between two attempts to get or renew the lease.")
	flags.IntVar(&o.workers, "workers", 32, "How many submissions are reconciled at once.")
	flags.IntVar(&o.maxInFlight, "max-in-flight", 512, "How many attempts may run at once in this process, over all templates.")
	flags.Int64Var(&o.maxResponseBytes, "max-response-bytes", httpcall.DefaultMaxResponseBytes, "How much of a receiver's answer is read.")
	flags.IntVar(&o.maxSQLConnections, "max-sql-connections", sqltx.DefaultMaxConnections, "How many connections to one database this process may hold.")
	flags.DurationVar(&o.sweepInterval, "sweep-interval", 30*time.Second, "The time between two sweeps over what is due: outcomes to be cleared up, submissions and records whose time is over.")
	flags.IntVar(&o.sweepRate, "sweep-rate", 100, "How many due objects are processed in a second, at most.")
	flags.DurationVar(&o.gracePeriod, "grace-period", 30*time.Second, "How long running attempts may take to end, and their outcomes to be stored, after a signal to stop.")
	flags.StringVar(&o.scope, "scope", "", "A prefix of every key that receivers see, to distinguish clusters that share receivers. It must never change.")
	flags.BoolVar(&o.allowLoopback, "allow-loopback-receivers", false, "Let templates call this machine's own addresses, for development.")
	flags.BoolVar(&o.allowLinkLocal, "allow-link-local-receivers", false, "Let templates call link-local addresses, among them the metadata service of clouds.")
	flags.StringVar(&o.auditLog, "audit-log", "-", "Where the audit log goes, a line of JSON for each transition: - is standard output (the log goes to standard error), anything else a file that is appended to; empty turns it off.")
	o.Register(flags)
	return flags
}

// delegated is the metrics' authentication by the API server.
const delegated = "delegated"

var scopes = regexp.MustCompile(`^([a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?)?$`)

func (o *options) check() error {
	switch {
	case o.workers < 1:
		return errors.New("--workers must be at least 1")
	case o.maxInFlight < 1:
		return errors.New("--max-in-flight must be at least 1")
	case o.maxResponseBytes < 1<<10:
		return errors.New("--max-response-bytes must be at least 1024")
	case o.maxSQLConnections < 1:
		return errors.New("--max-sql-connections must be at least 1")
	case o.sweepInterval < time.Second:
		return errors.New("--sweep-interval must be at least 1s")
	case o.sweepRate < 1:
		return errors.New("--sweep-rate must be at least 1")
	case o.gracePeriod < 0:
		return errors.New("--grace-period must not be negative")
	case o.leaseDuration < time.Second || o.leaseDuration <= o.renewDeadline || o.renewDeadline <= 2*o.retryPeriod || o.retryPeriod <= 0:
		return errors.New("--leader-election-lease-duration must be at least 1s and longer than --leader-election-renew-deadline, and that longer than two times --leader-election-retry-period")
	case o.metricsAuthentication != delegated && o.metricsAuthentication != "none":
		return errors.New("--metrics-authentication must be delegated or none")
	case strings.HasSuffix(string(o.webhookAddress), ":0"):
		return errors.New("--webhook-bind-address must name the port that the webhooks' Service leads to, as :9443, or be 0 to turn them off")
	case len(o.namespaces) > 0 && o.webhookAddress != setting.Off:
		return errors.New("--namespaces needs --webhook-bind-address=0: the API server asks the webhooks about every namespace, and the operator knows only those")
	case o.leaderElectionName == "":
		return errors.New("--leader-election-name must not be empty")
	case !scopes.MatchString(o.scope):
		return errors.New("--scope must be made of lower-case letters, digits, '-' and '.', at most 63 of them")
	}
	return o.Check()
}
