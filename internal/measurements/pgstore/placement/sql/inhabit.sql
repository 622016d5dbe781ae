-- Says where blocks are, in an installation that has measured nothing yet.
UPDATE block_home SET place = $1
WHERE place <> $1 AND NOT EXISTS (SELECT FROM measured_series)
