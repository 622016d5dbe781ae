package status

import "strings"

// Word says in one to three words what a reason's code means, for a badge or a title. A code
// of the server's own that is not known here stands for itself.
func Word(code string) string {
	switch bare := strings.TrimPrefix(strings.TrimPrefix(code, "SQLSTATE "), "error "); bare {
	case "refused":
		return "connection refused"
	case "timeout":
		return "no answer"
	case "dns":
		return "name not found"
	case "tls":
		return "TLS failed"
	case "authentication", "28P01", "28000", "18456", "ORA-01017":
		return "wrong password"
	case "53300", "ORA-00020", "ORA-12516", "ORA-12519", "ORA-12520", "17809", "10928", "10929":
		return "full"
	case "57P03", "ORA-01033", "ORA-01034", "17142", "17187", "18401":
		return "starting or stopping"
	case "57P01", "57P02", "6005", "ORA-01089", "ORA-01090":
		return "stopped"
	case "database", "3D000", "4060", "ORA-12514", "ORA-12505":
		return "database not available"
	case CodeNotAllowed:
		return "excluded by the settings"
	case CodeResting:
		return "left to pause"
	default:
		return code
	}
}
