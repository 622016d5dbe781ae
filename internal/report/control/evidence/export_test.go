package evidence

// Signer is the key that signs evidence of a time.
var Signer = (*Maker).signer
