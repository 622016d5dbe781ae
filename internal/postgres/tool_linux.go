package postgres

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel kill a client program when this process dies, however it does:
// pg_dump would go on writing a backup that nobody finishes. It looks at the thread that
// starts the program, so that one has to stay.
func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
