-- The demo's shop: a small database with personal data of nobody and with a few
-- honest mistakes, so that a Security report and a Data Inventory have
-- something true to say. Every name and number below is made by the statement.
CREATE SCHEMA shop;

CREATE TABLE shop.customer (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first_name    text NOT NULL,
    last_name     text NOT NULL,
    email         text NOT NULL UNIQUE,
    phone         text,
    date_of_birth date,
    street        text,
    postcode      text,
    created_at    timestamptz NOT NULL DEFAULT now()
);
INSERT INTO shop.customer (first_name, last_name, email, phone, date_of_birth, street, postcode)
SELECT (ARRAY['Ada','Ben','Chloe','David','Elif','Femi','Greta','Hiro'])[1 + i % 8],
       (ARRAY['Arslan','Berg','Costa','Dubois','Eriksen','Fischer','Greco'])[1 + i % 7],
       'customer' || i || '@example.com',
       '+49301' || lpad(i::text, 6, '0'),
       date '1950-01-01' + (i * 37 % 18000),
       i || ' Sample Street',
       lpad((10000 + i)::text, 5, '0')
  FROM generate_series(1, 500) AS i;

CREATE TABLE shop.payment_card (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES shop.customer,
    card_number text NOT NULL,
    valid_until date NOT NULL
);
-- 4111111111111111 is the test number every payment provider publishes.
INSERT INTO shop.payment_card (customer_id, card_number, valid_until)
SELECT i, '4111111111111111', date '2028-01-01' + i FROM generate_series(1, 200) AS i;

CREATE TABLE shop.sales_order (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES shop.customer,
    placed_at   timestamptz NOT NULL DEFAULT now(),
    total_cents bigint NOT NULL,
    client_ip   inet
);
INSERT INTO shop.sales_order (customer_id, total_cents, client_ip)
SELECT 1 + i % 500, 100 + i * 13 % 90000, ('192.0.2.' || i % 250)::inet FROM generate_series(1, 2000) AS i;

CREATE TABLE shop.employee (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    full_name  text NOT NULL,
    salary     numeric(10, 2) NOT NULL,
    iban       text
);
INSERT INTO shop.employee (full_name, salary, iban)
SELECT 'Employee ' || i, 42000 + i * 10, 'DE89370400440532013000' FROM generate_series(1, 20) AS i;

-- The mistakes.
CREATE TABLE shop.newsletter (email text, subscribed_at timestamptz DEFAULT now());
INSERT INTO shop.newsletter (email) SELECT 'reader' || i || '@example.com' FROM generate_series(1, 100) AS i;
GRANT SELECT ON shop.newsletter TO PUBLIC;

CREATE FUNCTION shop.customer_count() RETURNS bigint LANGUAGE sql SECURITY DEFINER
    AS 'SELECT count(*) FROM shop.customer';

ALTER TABLE shop.payment_card ENABLE ROW LEVEL SECURITY;

ANALYZE;
