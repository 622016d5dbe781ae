-- Other processes may not have been started again yet.
UPDATE published_keys SET valid_to = now() + interval '1 day'
WHERE use = 'pdf' AND fingerprint IS NULL AND id <> $1 AND valid_to IS NULL
