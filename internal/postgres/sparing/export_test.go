package sparing

// OpenFor is Open with another patience.
var OpenFor = open
