package eventstore

// Head is the last position of a log with its hash: the witness.
type Head struct {
	Log      Log    `json:"log"`
	Position int64  `json:"position"`
	Hash     []byte `json:"hash"`
}
