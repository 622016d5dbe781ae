-- What an organization keeps of sessions, held until the transaction ends.
SELECT session_detail = 'on' AS people, statement_texts <> 'off' AS texts FROM organizations WHERE id = $1 FOR SHARE
