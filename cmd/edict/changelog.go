package main

import (
	"io"

	"github.com/spf13/pflag"
	"gopkg.in/natefinch/lumberjack.v2"
)

// changeLogFlags say where the change log is written.
type changeLogFlags struct {
	file          string
	size, backups int
	rotated       *lumberjack.Logger
}

func (f *changeLogFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "change-log", "", "a file that gets a line of JSON for every write; - is standard output (default: none)")
	flags.IntVar(&f.size, "change-log-max-size", 100, "megabytes at which the file of the change log is rotated")
	flags.IntVar(&f.backups, "change-log-max-backups", 5, "how many old files of the change log are kept")
}

// writer returns where the change log is written; nil is nowhere.
func (f *changeLogFlags) writer(out io.Writer) io.Writer {
	switch f.file {
	case "":
		return nil
	case "-":
		return out
	}
	f.rotated = &lumberjack.Logger{Filename: f.file, MaxSize: f.size, MaxBackups: f.backups}
	return f.rotated
}

// close closes the file.
func (f *changeLogFlags) close() {
	if f.rotated != nil {
		_ = f.rotated.Close() // every line was written at once
	}
}
