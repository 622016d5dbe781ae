UPDATE published_keys SET valid_to = now()
WHERE use = 'pdf' AND fingerprint IS NULL AND id <> $1 AND valid_to IS NULL
