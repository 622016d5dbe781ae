-- The head can be read again when all that it lost has been made anew, but what cannot be,
-- or waits for blocks that cannot be reached.
UPDATE head_state SET ready = true
WHERE NOT ready AND NOT EXISTS (SELECT FROM dirty_hours WHERE recovered AND failures = 0 AND due <= now())
