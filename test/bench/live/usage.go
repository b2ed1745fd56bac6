package live

import (
	"fmt"
	"syscall"
	"time"

	"github.com/edict-dev/edict/test/controlplane"
)

// usage is the CPU time that processes have used: this one, which has the controller and
// the extender in it, and those of the control plane.
type usage struct{ own, apiServer, etcd time.Duration }

// used returns the CPU time so far.
func used() usage {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		panic(err) // its arguments are right
	}
	plane := controlplane.Used()
	return usage{time.Duration(own.Utime.Nano() + own.Stime.Nano()), plane.APIServer, plane.Etcd}
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
