-- As the user postgres: psql -v password="…" -f postgres.sql
CREATE ROLE drac LOGIN PASSWORD :'password';
CREATE DATABASE drac OWNER drac;
REVOKE CONNECT ON DATABASE drac FROM PUBLIC;
