package main

import (
	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

var logLevels = map[string]zapcore.Level{"debug": zapcore.DebugLevel, "info": zapcore.InfoLevel, "error": zapcore.ErrorLevel}

// logger writes to standard error. Stack traces belong to faults of the program, which are logged as panics.
func (o *options) logger() logr.Logger {
	times := func(config *zapcore.EncoderConfig) { config.EncodeTime = zapcore.ISO8601TimeEncoder }
	encoder := zap.JSONEncoder(times)
	if o.logFormat == "text" {
		encoder = zap.ConsoleEncoder(times)
	}
	return zap.New(encoder, zap.Level(logLevels[o.logLevel]), zap.StacktraceLevel(zapcore.DPanicLevel))
}
