package sqltx

import (
	"database/sql"
	"encoding/json"
	"strings"
	"time"
)

func mysqlRow(types []*sql.ColumnType, values []any) []json.RawMessage {
	cells := make([]json.RawMessage, len(values))
	for i, value := range values {
		cells[i] = mysqlValue(types[i].DatabaseTypeName(), value)
	}
	return cells
}

// mysqlValue makes JSON of a value as the driver scans it. A DECIMAL is text, since JSON's readers round. MariaDB's
// JSON is a text of which the server does not tell that it is JSON.
func mysqlValue(name string, value any) json.RawMessage {
	raw, ok := value.([]byte)
	if !ok {
		return asJSON(value)
	}
	switch name = strings.TrimPrefix(name, "UNSIGNED "); name {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "FLOAT", "DOUBLE", "JSON":
		return verbatim(raw)
	case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "BIT", "GEOMETRY":
		return bytesOf(raw)
	case "DATETIME":
		return clock(raw, spaced, zoneless)
	case "TIMESTAMP":
		return clock(raw, spaced, time.RFC3339Nano)
	default:
		return text(raw)
	}
}
