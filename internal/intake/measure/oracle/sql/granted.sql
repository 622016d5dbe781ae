-- Oracle 12.2+: the views of SYS that are granted to our account, which everybody may ask of itself.
-- Asked only after a view did not exist for us.
-- Database Reference: USER_TAB_PRIVS_RECD.
SELECT table_name
FROM user_tab_privs_recd
WHERE owner = 'SYS' AND privilege IN ('SELECT', 'READ')
