package controlplane

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU is the CPU time of the components that this process has started.
type CPU struct{ APIServer, Etcd time.Duration }

// Used returns the CPU time so far. Where there is no /proc it is not known, and 0.
func Used() (out CPU) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		switch name, cpu := child(string(text)); name {
		case "kube-apiserver":
			out.APIServer += cpu
		case "etcd":
			out.Etcd += cpu
		}
	}
	return out
}

// Minus returns the CPU time since an earlier moment.
func (c CPU) Minus(earlier CPU) CPU {
	return CPU{c.APIServer - earlier.APIServer, c.Etcd - earlier.Etcd}
}

// tick is the unit of the times in /proc.
const tick = 10 * time.Millisecond

// child returns the name and the CPU time of a process, by its line in /proc; "" is the
// name of one that this process has not started.
func child(stat string) (name string, cpu time.Duration) {
	end := strings.LastIndex(stat, ") ") // the name may have brackets
	if end < 0 {
		return "", 0
	}
	before, after := stat[:end], stat[end+2:]
	_, name, _ = strings.Cut(before, "(")
	fields := strings.Fields(after)
	if len(fields) < 13 || fields[1] != strconv.Itoa(os.Getpid()) {
		return "", 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return name, time.Duration(user+system) * tick
}
