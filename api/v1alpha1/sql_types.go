package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SQLDialect names a kind of database.
// +kubebuilder:validation:Enum=PostgreSQL;MySQL
type SQLDialect string

const (
	// PostgreSQL and what speaks its protocol.
	PostgreSQL SQLDialect = "PostgreSQL"
	// MySQL and MariaDB.
	MySQL SQLDialect = "MySQL"
)

// SQLEffect is one transaction: the row of the ledger, and the statements.
type SQLEffect struct {
	// PostgreSQL, or MySQL, which stands for MariaDB too.
	// +required
	Dialect SQLDialect `json:"dialect"`

	// A Secret with address and credentials: postgres://user:password@host:5432/database, or
	// user:password@tcp(host:3306)/database.
	// +required
	DSN ValueSource `json:"dsn"`

	// How long an attempt may take, from its begin to the answer to COMMIT: 100ms to 10m.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('10m')",message="must be between 100ms and 10m"
	Timeout metav1.Duration `json:"timeout,omitempty,omitzero"`

	// True: the operator creates the table taskonce_ledger where there is none. False: it waits until somebody has.
	// +optional
	CreateLedger bool `json:"createLedger,omitempty"`

	// What is done, in this order. All of it happens, or none.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Statements []SQLStatement `json:"statements"`

	// A query that is run after the statements. Its one row is the result, as an object; more than one is refused,
	// and nothing is committed.
	// +optional
	Result *SQLQuery `json:"result,omitempty"`
}

// SQLQuery is SQL text with placeholders, and what stands in for them.
type SQLQuery struct {
	// One statement, with the placeholders of the database: $1, $2 or ?. It holds no expressions.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	SQL string `json:"sql"`

	// The values of the placeholders, in their order; each may hold expressions over params and submission. They reach
	// the database apart from the text.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`
}

// SQLStatement is one statement of a transaction.
type SQLStatement struct {
	SQLQuery `json:",inline"`

	// How many rows it must find. Any other number rolls everything back, and the submission fails.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ExpectRows *int64 `json:"expectRows,omitempty"`
}
