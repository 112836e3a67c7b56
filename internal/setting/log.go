package setting

import (
	"errors"
	"flag"
	"os"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/taskonce/taskonce/internal/stream"
)

// Log is how a process logs.
type Log struct {
	format, level string
}

var levels = map[string]zapcore.Level{"debug": zapcore.DebugLevel, "info": zapcore.InfoLevel, "error": zapcore.ErrorLevel}

// Register adds the flags.
func (l *Log) Register(flags *flag.FlagSet) {
	flags.StringVar(&l.format, "log-format", "json", "How lines of the log are written: json or text.")
	flags.StringVar(&l.level, "log-level", "info", "What is logged: debug, info or error, each with what comes after it.")
}

// Check says what is wrong with them.
func (l *Log) Check() error {
	if l.format != "json" && l.format != "text" {
		return errors.New("--log-format must be json or text")
	}
	if _, known := levels[l.level]; !known {
		return errors.New("--log-level must be debug, info or error")
	}
	return nil
}

// Logger writes to standard error, and goes on where nobody reads that. Stack traces belong to faults of the program, which are logged as panics.
func (l *Log) Logger() logr.Logger {
	times := func(config *zapcore.EncoderConfig) { config.EncodeTime = zapcore.ISO8601TimeEncoder }
	encoder := zap.JSONEncoder(times)
	if l.format == "text" {
		encoder = zap.ConsoleEncoder(times)
	}
	return zap.New(zap.WriteTo(stream.NewLines(os.Stderr)), encoder, zap.Level(levels[l.level]), zap.StacktraceLevel(zapcore.DPanicLevel))
}
