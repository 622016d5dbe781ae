UPDATE assessments a SET answers = n.answers::jsonb
FROM unnest($1::uuid[], $2::text[]) AS n (id, answers)
WHERE a.id = n.id
