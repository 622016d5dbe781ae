package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"

	"muster/internal/cli/command"
)

// service runs a command line as a service of Windows, for the agent: docs/agent.md.
type service struct{ status int }

// asService runs this process's command line where the service manager has started it.
func asService() (status int, is bool) {
	if is, err := svc.IsWindowsService(); err != nil || !is {
		return 0, false
	}
	s := &service{status: command.ExitFailed}
	if err := svc.Run("", s); err != nil { // an own process needs no name
		return command.ExitFailed, true
	}
	return s.status, true
}

// Execute is the service manager's.
func (s *service) Execute(args []string, requests <-chan svc.ChangeRequest, changes chan<- svc.Status) (specific bool, code uint32) {
	const accepts = svc.AcceptStop | svc.AcceptShutdown
	changes <- svc.Status{State: svc.StartPending}
	log, err := serviceLog(args[0])
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return false, uint32(errno) // sc.exe query says it in words: access is denied, path not found
	}
	if err != nil {
		return true, command.ExitFailed
	}
	os.Stdout, os.Stderr = log, log // a service has none
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, os.Args[1:], log, log) }()
	changes <- svc.Status{State: svc.Running, Accepts: accepts}
	for {
		select {
		case s.status = <-ended:
			changes <- svc.Status{State: svc.StopPending}
			return s.status != 0, uint32(s.status)
		case r := <-requests:
			switch r.Cmd {
			case svc.Interrogate:
				changes <- r.CurrentStatus
			case svc.Stop, svc.Shutdown:
				changes <- svc.Status{State: svc.StopPending}
				stop()
			}
		}
	}
}

// logBytes is how long a service's log may be when it starts; beyond that it is put
// aside, and one before it is forgotten.
const logBytes = 10 << 20

// serviceLog opens the log of a service: %ProgramData%\Muster\NAME.log.
func serviceLog(name string) (*os.File, error) {
	data, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(data, "Muster", name+".log")
	if was, err := os.Stat(path); err == nil && was.Size() > logBytes {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
