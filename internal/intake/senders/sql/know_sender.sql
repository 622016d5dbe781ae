-- Takes in a sender, and forgets those of its organization that were silent for too long.
WITH gone AS (
    DELETE FROM known_senders
    WHERE organization_id = $1 AND heard_at <= now() - make_interval(secs => $4) AND (token_id, sender) <> ($2, $3)
)
INSERT INTO known_senders (organization_id, token_id, sender, heard_at)
VALUES ($1, $2, $3, now())
ON CONFLICT (organization_id, token_id, sender) DO UPDATE SET heard_at = excluded.heard_at
