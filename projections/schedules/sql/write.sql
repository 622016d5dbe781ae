INSERT INTO schedules (id, organization_id, owner_id, name, terms, due_from, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE SET
    owner_id = excluded.owner_id, name = excluded.name, terms = excluded.terms, due_from = excluded.due_from
