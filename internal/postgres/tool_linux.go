package postgres

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel kill a client program when this process dies, in whatever way:
// otherwise pg_dump would continue a backup that nobody finishes. The kernel watches the thread
// that starts the program, so that thread has to stay.
func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
