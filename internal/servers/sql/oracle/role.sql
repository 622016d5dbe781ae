-- the role of a database in Data Guard
-- Oracle 12.2+; everybody may ask for their session's.
SELECT SYS_CONTEXT('USERENV', 'DATABASE_ROLE') FROM dual
