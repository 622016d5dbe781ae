// Package strictyaml is the one reader of YAML: of the fleet file, an agent's configuration, and
// the program's own files of checks and of the demo.
//
// A file that somebody writes is read node by node (Reader). Everything that is wrong with it is
// told at once, each fault with its field and line. Unknown keys, keys given twice, anchors,
// aliases, a second document and numbers in the place of texts are refused: each of them makes
// a file other than it looks. A file has MaxBytes at most and is not nested deep. The
// program's own files are decoded into types (Decode): they may have anchors, and no
// unknown members.
//
// # What may go wrong
//
// A file may hold a password that somebody forgot to put into quotation marks, or put in the place
// of a key. So a fault of a Reader repeats nothing but keys that look like keys; what the parser
// quotes of the file is left out.
package strictyaml
