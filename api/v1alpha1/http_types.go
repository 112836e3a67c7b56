package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HTTPEffect is one HTTP request. It carries the header Idempotency-Key, the same on every attempt.
type HTTPEffect struct {
	HTTPRequest `json:",inline"`

	// What is known of the receiver. It decides whether an unknown outcome may be tried again.
	// +optional
	// +kubebuilder:default={}
	Receiver Receiver `json:"receiver,omitempty"`

	// What answers mean, where the default is not right: the first rule whose expression is true decides.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	Classify []ClassifyRule `json:"classify,omitempty"`

	// The result, from response.status, response.headers and response.body.
	// +optional
	// +kubebuilder:default="${response.body}"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Result string `json:"result,omitempty"`
}

// HTTPRequest describes a request. Every string may hold expressions; scheme, host and user of the URL may not.
type HTTPRequest struct {
	// The method.
	// +optional
	// +kubebuilder:validation:Enum=GET;POST;PUT;PATCH;DELETE
	Method string `json:"method,omitempty"`

	// The address, http or https. The value of each expression is percent-encoded.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^https?://[^/?#$@]+([/?#].*)?$`
	URL string `json:"url"`

	// Headers beside those that the operator sets itself.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []HTTPHeader `json:"headers,omitempty"`

	// Who the receiver is told that calls: the header Authorization, from a Secret.
	// +optional
	Auth *HTTPAuth `json:"auth,omitempty"`

	// What is trusted and shown over TLS, where the URL is one of https.
	// +optional
	TLS *HTTPTLS `json:"tls,omitempty"`

	// The body: any JSON, whose strings may hold expressions. Left out, an effect sends the parameters as JSON.
	// +optional
	Body *apiextensionsv1.JSON `json:"body,omitempty"`

	// How long an attempt may take, from its begin to the end of the answer: 100ms to 10m.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('10m')",message="must be between 100ms and 10m"
	Timeout metav1.Duration `json:"timeout,omitempty,omitzero"`
}

// HTTPHeader is one header: exactly one of value and valueFrom.
//
// +kubebuilder:validation:ExactlyOneOf=value;valueFrom
type HTTPHeader struct {
	// The name. Idempotency-Key, Taskonce-Attempt, Traceparent, Host, and the headers that frame a message are the operator's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['idempotency-key','taskonce-attempt','traceparent','host','content-length','transfer-encoding','connection','upgrade','trailer','te'])",message="this header is set by the operator"
	Name string `json:"name"`

	// The value; it may hold expressions.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value *string `json:"value,omitempty"`

	// Where the value is read from, at the time of use.
	// +optional
	ValueFrom *ValueSource `json:"valueFrom,omitempty"`
}

// HTTPAuth makes the header Authorization: exactly one of basic and bearer. Secrets are read at the time of use.
//
// +kubebuilder:validation:ExactlyOneOf=basic;bearer
type HTTPAuth struct {
	// A user and password: the keys username and password of a Secret, as in the type kubernetes.io/basic-auth.
	// +optional
	Basic *SecretSource `json:"basic,omitempty"`

	// A token.
	// +optional
	Bearer *ValueSource `json:"bearer,omitempty"`
}

// HTTPTLS says what is trusted and shown over TLS. Secrets are read at the time of use.
//
// +kubebuilder:validation:AtLeastOneOf=ca;clientCertificate
type HTTPTLS struct {
	// The certificates, in PEM, of the authorities that sign the receiver's: these, and not those of the operator's
	// system. Left out, the system's are trusted.
	// +optional
	CA *ValueSource `json:"ca,omitempty"`

	// The operator's own certificate and key: the keys tls.crt and tls.key of a Secret, as in the type
	// kubernetes.io/tls.
	// +optional
	ClientCertificate *SecretSource `json:"clientCertificate,omitempty"`
}
