-- What the gateway and the workers may do in the database of PostgreSQL, by an account each. Run it as the owner of the
-- tables after `dpgate database upgrade`, and again after each upgrade:
--
--   createuser dpgate_owner && createdb --owner dpgate_owner dpgate
--   DPGATE_DATABASE_URL=postgresql+psycopg://dpgate_owner@/dpgate dpgate database upgrade
--   createuser dpgate_gateway && createuser dpgate_worker
--   psql --username dpgate_owner --set ON_ERROR_STOP=1 --single-transaction --file deploy/roles.sql dpgate
--
-- Then DPGATE_DATABASE_URL of the gateway names dpgate_gateway, and that of the workers dpgate_worker. Neither owns a table:
-- neither can drop one, or switch off what keeps the audit trail, the ledger's entries, votes and policies append-only.
--
-- A table that this file does not name may be read and written by both.

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO dpgate_gateway, dpgate_worker;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, dpgate_gateway, dpgate_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO dpgate_gateway, dpgate_worker;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO dpgate_gateway, dpgate_worker;

-- what is on record stays so
REVOKE UPDATE, DELETE ON audit_events, ledger_entries, policies, votes FROM dpgate_gateway, dpgate_worker;
REVOKE DELETE ON audit_head, accounts, cohorts, datasets, jobs, users FROM dpgate_gateway, dpgate_worker;
REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM dpgate_gateway, dpgate_worker;

-- releases, the key of certificates and records of erasures come from workers; a key is published once
REVOKE INSERT, UPDATE, DELETE ON releases, platform_facts FROM dpgate_gateway;
REVOKE UPDATE, DELETE ON releases, platform_facts FROM dpgate_worker;
REVOKE UPDATE, DELETE ON erasures FROM dpgate_gateway;

-- sealed outputs of runs: the gateway may delete those of a job that is cancelled, and neither read nor put in any
REVOKE ALL ON run_outputs, pac_states FROM dpgate_gateway;
GRANT SELECT (job_id, run), DELETE ON run_outputs TO dpgate_gateway;
REVOKE INSERT, UPDATE ON chunks FROM dpgate_gateway;

-- who has asked for the next sweep keeps all others from it for a while
REVOKE INSERT, UPDATE, DELETE ON sweeps FROM dpgate_gateway;

-- by what people show who they are is the gateway's alone
REVOKE ALL ON passwords, api_tokens, sessions, login_failures, ended_logins, identities, registration_drafts, job_drafts
    FROM dpgate_worker;
