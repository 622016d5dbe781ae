-- Oracle 12.2+: in how many days the password of our account expires; NULL where it does not.
-- Everybody may ask about themselves. In the time of grace it is the end of that time.
-- Database Reference: USER_USERS.
SELECT FLOOR(u.expiry_date - SYSDATE)
FROM user_users u
