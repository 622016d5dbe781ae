package inspection

import (
	"context"
	"fmt"
	"time"

	"muster/internal/report/snapshot"
)

// LookLimit is how long a look at one server takes at most: its checks and the classification
// of its databases. What was read by then is kept, and the rest says that it was not read.
const LookLimit = 5 * time.Minute

// notRead is what is said of all that a look had not read when it was over.
var notRead = fmt.Sprintf("Not read: Muster ends an assessment after %d minutes, and this server answered too slowly.", int(LookLimit.Minutes()))

// Over says whether a look is over, and what that means for whatever is not read yet. A look
// that is over because its caller stops is dropped as a whole.
func Over(ctx context.Context) (reason string, over bool) {
	if ctx.Err() == nil {
		return "", false
	}
	return notRead, true
}

// Cut says for a check without an answer that the look is over, if it is.
func Cut(ctx context.Context, result *snapshot.CheckResult) (over bool) {
	reason, over := Over(ctx)
	if over && (result.Status == "" || result.Status == snapshot.StatusNotAssessed) {
		NotAssessed(result, snapshot.ReasonTimeout, reason)
	}
	return over
}
