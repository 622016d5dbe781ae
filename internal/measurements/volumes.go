package measurements

import "strings"

// NeverFills says of a file system by its type, device and mount point that how full it is
// says nothing of the host's room: it is a medium or an image that can only be read, or no
// room of its own. tmpfs is memory that can fill, and counts. An overlay shows the file
// system below it, and counts as the root of a container only.
func NeverFills(kind, device, mount string) bool {
	kind = strings.ToLower(kind)
	if neverFill[kind] || strings.Contains(kind, "cvmfs") || strings.Contains(kind, "appimage") || strings.HasPrefix(kind, "fuse.squashfuse") {
		return true
	}
	if kind == "overlay" || kind == "overlayfs" || kind == "aufs" {
		return mount != "/"
	}
	if strings.HasPrefix(kind, "fuse") {
		device = strings.ToLower(device)
		return strings.Contains(device, "cvmfs") || strings.HasSuffix(device, ".appimage") || strings.Contains(mount, "/.mount_")
	}
	return strings.HasPrefix(mount, "/sys/") || strings.HasPrefix(mount, "/proc/")
}

var neverFill = map[string]bool{
	// Media and images.
	"squashfs": true, "erofs": true, "cramfs": true, "romfs": true, "iso9660": true, "cd9660": true, "hsfs": true, "cdfs": true, "udf": true,
	"fuse.snapfuse": true, "fuse.archivemount": true, "fuse.fuseiso": true, "fuse.erofsfuse": true,
	// What the kernel or a program shows as files.
	"efivarfs": true, "autofs": true, "proc": true, "procfs": true, "linprocfs": true, "sysfs": true, "linsysfs": true, "devfs": true, "fdescfs": true,
	"devpts": true, "cgroup": true, "cgroup2": true, "securityfs": true, "selinuxfs": true, "debugfs": true, "tracefs": true, "pstore": true, "bpf": true,
	"configfs": true, "fusectl": true, "mqueue": true, "hugetlbfs": true, "binfmt_misc": true, "rpc_pipefs": true, "nsfs": true, "ctfs": true, "objfs": true,
	"mntfs": true, "lofs": true, "fuse.lxcfs": true, "fuse.gvfsd-fuse": true, "fuse.portal": true, "fuse.rootlessport": true,
}
