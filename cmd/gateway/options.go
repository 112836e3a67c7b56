package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/taskonce/taskonce/internal/gateway"
	"github.com/taskonce/taskonce/internal/gateway/local"
	"github.com/taskonce/taskonce/internal/setting"
)

// delegated is the metrics' authentication by the API server.
const delegated = "delegated"

type options struct {
	setting.Common

	address               setting.Address
	certDir               string
	plainHTTP             bool
	metricsAddress        setting.Address
	metricsAuthentication string
	probeAddress          setting.Address
	pageAddress           setting.Address
	pageAuthentication    string
	pageNamespaces        setting.Namespaces
	issuer                gateway.Issuer
	origins               origins
	trustedProxies        networks
	defaultWait           time.Duration
	maxWait               time.Duration
	patience              time.Duration
	gracePeriod           time.Duration
	maxBody               int64
	perSecond             float64
	burst                 int
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
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	o.address, o.metricsAddress, o.probeAddress, o.pageAddress = ":8443", ":9443", ":8081", setting.Off
	flags.Var(&o.address, "bind-address", "Where the interface is served.")
	flags.StringVar(&o.certDir, "tls-cert-dir", "", "A folder with tls.crt and tls.key, which are read again when they change.")
	flags.BoolVar(&o.plainHTTP, "plain-http", false, "Serve without TLS: tokens can be read by whoever sees the traffic, so use it only if something in front of the gateway, on the same machine or a network of its own, terminates TLS.")
	flags.Var(&o.metricsAddress, "metrics-bind-address", "Where metrics are served, over HTTPS; 0 turns them off.")
	flags.StringVar(&o.metricsAuthentication, "metrics-authentication", delegated, "Who may read the metrics: delegated asks the API server, which needs two rights on the whole cluster; none admits everybody who reaches the port.")
	flags.Var(&o.probeAddress, "health-probe-bind-address", "Where /healthz and /readyz are served; 0 turns them off.")
	flags.Var(&o.pageAddress, "page-bind-address", "Where a page for people is served, at /: what waits for a person, what is in process, and what finished within the last hour; 0 turns it off. It needs rights of its own: the ClusterRole taskonce-gateway-page.")
	flags.StringVar(&o.pageAuthentication, "page-authentication", delegated, "Who may see the page: delegated asks the API server about a token, as for the metrics, and admits whoever may get /page/state; none admits everybody who reaches it, which must be by an address of this machine only, such as 127.0.0.1:8082 and kubectl port-forward.")
	flags.Var(&o.pageNamespaces, "page-namespaces", "The namespaces that the page shows, separated by commas; left out, all.")
	flags.StringVar(&o.issuer.URL, "oidc-issuer", "", "The issuer of the callers' tokens, as they name it. Left out, tokens are passed on to the API server, whose RBAC decides.")
	flags.StringVar(&o.issuer.Audience, "oidc-audience", "", "The audience that tokens must be issued for.")
	flags.StringVar(&o.issuer.KeysURL, "oidc-keys-url", "", "The URL of the issuer's keys; left out, as its discovery document says.")
	flags.StringVar(&o.issuer.CAFile, "oidc-ca-file", "", "A file with the CA certificates that sign the issuer's; left out, the system's authorities are trusted.")
	flags.StringVar(&o.issuer.UsernameClaim, "oidc-username-claim", "sub", "The claim that names people, on whose behalf the gateway submits: as the API server's flag of that name.")
	flags.StringVar(&o.issuer.UsernamePrefix, "oidc-username-prefix", "", "The prefix of that name, as in the API server's flag, so that both know a person by the same name: - for none; left out, none if the claim is email, else the issuer and a #.")
	flags.Var(&o.origins, "cors-origins", "The origins whose pages may use the gateway from a browser, separated by commas, such as https://school.example; left out, none.")
	flags.Var(&o.trustedProxies, "trusted-proxies", "The networks of the ingresses in front of the gateway, separated by commas, such as 10.0.0.0/8: what they say in X-Forwarded-For is believed, so that tokens that are not accepted are counted by who sends them; left out, nobody is believed, and all behind an ingress are counted together.")
	flags.DurationVar(&o.defaultWait, "default-wait", 10*time.Second, "How long a first request waits for its outcome unless it says so itself (Prefer: wait=N).")
	flags.DurationVar(&o.maxWait, "max-wait", 60*time.Second, "How long a request waits at most, whatever it says.")
	flags.DurationVar(&o.patience, "api-patience", 5*time.Second, "How long the API server is asked before a request is answered with 503.")
	flags.DurationVar(&o.gracePeriod, "grace-period", 10*time.Second, "How long requests may take to be answered after a signal to stop. Requests that wait for an outcome are answered at once.")
	flags.Int64Var(&o.maxBody, "max-body-bytes", 1<<20, "How large a request's body may be.")
	flags.Float64Var(&o.perSecond, "rate", 20, "How many requests a caller may send in a second, to each gateway process; 0: any number.")
	flags.IntVar(&o.burst, "burst", 40, "How many requests of a caller may come at once.")
	o.Register(flags)
	return flags
}

func (o *options) check() error {
	switch {
	case o.address == setting.Off:
		return errors.New("--bind-address must be as :8443: the interface cannot be turned off")
	case o.certDir == "" && !o.plainHTTP:
		return errors.New("--tls-cert-dir must name a folder with a certificate; where something in front of the gateway does the TLS, say --plain-http")
	case o.certDir != "" && o.plainHTTP:
		return errors.New("--tls-cert-dir and --plain-http exclude each other")
	case o.issuer.URL == "" && o.issuer != (gateway.Issuer{UsernameClaim: "sub"}):
		return errors.New("--oidc-audience and the other flags of that kind say something of an issuer: set --oidc-issuer")
	case o.issuer.URL != "" && !gateway.Trustworthy(o.issuer.URL):
		return errors.New("--oidc-issuer must be an https URL: over plain http anybody between could vouch for anybody")
	case o.issuer.KeysURL != "" && !gateway.Trustworthy(o.issuer.KeysURL):
		return errors.New("--oidc-keys-url must be an https URL: over plain http anybody between could vouch for anybody")
	case o.issuer.UsernameClaim == "":
		return errors.New("--oidc-username-claim must name a claim, such as sub")
	case o.issuer.URL != "" && o.issuer.Audience == "":
		return errors.New("--oidc-audience must be set: a token for somebody else would be accepted")
	case o.defaultWait < 0 || o.defaultWait > o.maxWait:
		return errors.New("--default-wait must be between 0s and --max-wait")
	case o.patience < time.Second:
		return errors.New("--api-patience must be at least 1s")
	case o.gracePeriod < 0:
		return errors.New("--grace-period must not be negative")
	case o.maxBody < 1<<10:
		return errors.New("--max-body-bytes must be at least 1024")
	case !(o.perSecond >= 0) || math.IsInf(o.perSecond, 0) || o.perSecond > 0 && o.burst < 1:
		return errors.New("--rate must not be negative, and with a rate --burst must be at least 1")
	case o.metricsAuthentication != delegated && o.metricsAuthentication != "none":
		return errors.New("--metrics-authentication must be delegated or none")
	case o.pageAuthentication != delegated && o.pageAuthentication != "none":
		return errors.New("--page-authentication must be delegated or none")
	case o.pageAddress != setting.Off && o.pageAuthentication == "none" && !local.Host(string(o.pageAddress)):
		return errors.New("--page-authentication=none shows everybody what others submitted: bind the page to this machine alone, as --page-bind-address=127.0.0.1:8082")
	case o.pageAddress != setting.Off && o.plainHTTP && !local.Host(string(o.pageAddress)):
		return errors.New("--plain-http would have the page's tokens sent without TLS: set --tls-cert-dir, or bind the page to this machine alone, as --page-bind-address=127.0.0.1:8082")
	case o.pageAddress == setting.Off && len(o.pageNamespaces) > 0:
		return errors.New("--page-namespaces says something of a page that is off: set --page-bind-address")
	}
	return o.Check()
}

// Open looks at the files that the flags name, so that what is wrong is said before anybody is asked.
func (o *options) Open() error {
	if err := setting.CheckCertificate("tls-cert-dir", o.certDir); err != nil {
		return err
	}
	return o.issuer.CheckAuthorities()
}

func (o *options) rate() rate.Limit { return rate.Limit(o.perSecond) }

func (o *options) mode() string {
	if o.issuer.URL == "" {
		return "pass-through"
	}
	return "oidc"
}

// origins is a list of web origins, with commas between them.
type origins []string

func (o *origins) String() string { return strings.Join(*o, ",") }

// Set refuses what no browser would send as an origin, and the star: a token is not for every page.
func (o *origins) Set(text string) error {
	*o = nil
	if text == "" {
		return nil
	}
	for origin := range strings.SplitSeq(text, ",") {
		origin = strings.TrimSpace(origin)
		parsed, err := url.Parse(origin)
		if err != nil || parsed.Host == "" || parsed.Scheme+"://"+parsed.Host != origin || strings.Contains(origin, "*") {
			return fmt.Errorf("%q is no origin, such as https://school.example", origin)
		}
		*o = append(*o, origin)
	}
	return nil
}

// networks is a list of them, with commas between.
type networks []netip.Prefix

func (n *networks) String() string {
	texts := make([]string, len(*n))
	for i, network := range *n {
		texts[i] = network.String()
	}
	return strings.Join(texts, ",")
}

// Set takes an address for the network that it is by itself.
func (n *networks) Set(text string) error {
	*n = nil
	if text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		network, err := netip.ParsePrefix(one)
		if address, wrong := netip.ParseAddr(one); wrong == nil {
			network, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return fmt.Errorf("%q is no network, such as 10.0.0.0/8", one)
		}
		*n = append(*n, network)
	}
	return nil
}
