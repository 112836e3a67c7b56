package setting

import (
	"errors"
	"flag"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
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

// Install has all of the process logged so: also what Kubernetes' libraries and the standard library, such as its HTTP
// server, write by themselves.
func (l *Log) Install() {
	logger := l.logger()
	logf.SetLogger(logger)
	klog.SetLogger(logger)
	slog.SetDefault(slog.New(logr.ToSlogHandler(logger))) // and with it that of package log
}

// logger writes to standard error, and goes on where nobody reads that. Stack traces belong to faults of the program, which are logged as panics.
func (l *Log) logger() logr.Logger {
	times := func(config *zapcore.EncoderConfig) { config.EncodeTime = zapcore.ISO8601TimeEncoder }
	encoder := zap.JSONEncoder(times)
	if l.format == "text" {
		encoder = zap.ConsoleEncoder(times)
	}
	return zap.New(zap.WriteTo(stream.NewLines(os.Stderr)), encoder, zap.Level(levels[l.level]), zap.StacktraceLevel(zapcore.DPanicLevel))
}
