package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the CPU time that processes have used: this one, which has the controller and
// the extender in it, and those of the control plane.
type usage struct{ own, apiServer, etcd time.Duration }

// used returns the CPU time so far. Where there is no /proc, that of the control plane is
// not known, and 0.
func used() usage {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		panic(err) // its arguments are right
	}
	u := usage{own: time.Duration(own.Utime.Nano() + own.Stime.Nano())}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		switch name, cpu := child(string(text)); name {
		case "kube-apiserver":
			u.apiServer += cpu
		case "etcd":
			u.etcd += cpu
		}
	}
	return u
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

func (u usage) minus(v usage) usage {
	return usage{u.own - v.own, u.apiServer - v.apiServer, u.etcd - v.etcd}
}

func (u usage) plus(v usage) usage {
	return usage{u.own + v.own, u.apiServer + v.apiServer, u.etcd + v.etcd}
}

func (u usage) sum() time.Duration { return u.own + u.apiServer + u.etcd }

// each is what one of n has used.
func (u usage) each(n int) string {
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(n) }
	return fmt.Sprintf("%.2f ms (API server %.2f, etcd %.2f, the rest %.2f)", ms(u.sum()), ms(u.apiServer), ms(u.etcd), ms(u.own))
}
