// Package strictyaml is the one reader of YAML: for the fleet file, an agent's configuration,
// and the program's own files of checks and of the demo.
//
// A file that a person writes is read node by node (Reader). All its faults are reported at
// once, each with its field and line. Unknown keys, duplicate keys, anchors, aliases, a second
// document and numbers in place of texts are refused, because each of them makes a file mean
// something else than it seems to. A file has MaxBytes at most and a limited depth. The
// program's own files are decoded into types (Decode): they may have anchors, and no unknown
// members.
//
// # What may go wrong
//
// A file may contain a password that somebody forgot to quote, or put in the place of a key. So
// a fault of a Reader repeats only keys that look like keys, and leaves out what the parser
// quotes from the file.
package strictyaml
