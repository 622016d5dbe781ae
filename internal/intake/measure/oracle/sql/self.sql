-- Oracle 12.2+: where we are and as whom, which nobody needs a grant for. In a container
-- database the container, its number and its name, else 0 and the database's name; the
-- container database's name, if it is one; our account.
-- SQL Language Reference: SYS_CONTEXT, namespace USERENV.
SELECT SYS_CONTEXT('USERENV', 'CON_ID'), SYS_CONTEXT('USERENV', 'CON_NAME'), SYS_CONTEXT('USERENV', 'CDB_NAME'),
       SYS_CONTEXT('USERENV', 'SESSION_USER')
FROM dual
