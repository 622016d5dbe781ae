SELECT id, use, algorithm, public_key, coalesce(verifier_key, '') AS verifier_key,
       coalesce(certificate, '') AS certificate, valid_from, valid_to,
       revoked_at, coalesce(reason, '') AS reason, coalesce(fingerprint, '') AS fingerprint
FROM published_keys
ORDER BY valid_to NULLS FIRST, valid_from, use, id
