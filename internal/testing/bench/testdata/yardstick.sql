CREATE TABLE hosts (instance uuid NOT NULL, at timestamptz NOT NULL, cpu float8, memory float8, disk float8);
CREATE TABLE sessions (instance uuid NOT NULL, database bigint NOT NULL, at timestamptz NOT NULL, locks bigint, lightweight bigint, io bigint, client bigint);
CREATE TABLE statements (instance uuid NOT NULL, database bigint NOT NULL, at timestamptz NOT NULL, key bigint NOT NULL, calls bigint, total float8)
