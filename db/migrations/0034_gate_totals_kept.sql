-- An attempt that provably costs nothing: it was refused, failed without cost, or is not sent.
CREATE FUNCTION attempt_costs_nothing(state text, settled boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT state IN ('prepared', 'refused') OR (state = 'failed' AND settled)
$$;
--> statement-breakpoint
-- The amount that a reservation counts for: its charge, once that is known in the same currency.
CREATE FUNCTION gate_counted(reservation gate_reservations) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT CASE
      WHEN attempt_costs_nothing(attempts.state, attempts.settled) THEN 0
      WHEN attempts.charged_currency = reservation.currency THEN attempts.charged_amount
      ELSE reservation.amount
    END
    FROM attempts WHERE attempts.id = reservation.attempt_id
  ), 0)
$$;
--> statement-breakpoint
-- The lock of `db/gate/account-lock.ts`.
CREATE FUNCTION lock_gate_account() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('purchase_gate.account', 0))
$$;
--> statement-breakpoint
-- The totals so far. Before the triggers, which would add these changes once more.
UPDATE gate_reservations r SET counted = gate_counted(r) WHERE gate_counted(r) <> 0;
--> statement-breakpoint
INSERT INTO gate_spending (day, currency, api_key_id, amount)
SELECT day, currency, key, sum(counted) FROM gate_reservations, LATERAL (VALUES (api_key_id), ('')) AS owner(key)
GROUP BY day, currency, key HAVING sum(counted) <> 0;
--> statement-breakpoint
INSERT INTO gate_reserved (currency, amount)
SELECT currency, sum(counted) FROM gate_reservations WHERE NOT is_over GROUP BY currency HAVING sum(counted) <> 0;
--> statement-breakpoint
CREATE FUNCTION set_gate_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A concurrent change of the attempt would not see this row, and this row would not see the change. A claim holds
  -- the lock already.
  PERFORM FROM attempts WHERE id = NEW.attempt_id FOR SHARE;
  NEW.counted := gate_counted(NEW);
  RETURN NEW;
END
$$;
--> statement-breakpoint
-- Not for other columns: a reading of the wallet changes many rows, and none of their amounts.
CREATE TRIGGER gate_reservations_counted
  BEFORE INSERT OR UPDATE OF amount, currency, counted ON gate_reservations
  FOR EACH ROW EXECUTE FUNCTION set_gate_counted();
--> statement-breakpoint
-- Adds rows to the totals, and takes others off.
CREATE FUNCTION add_to_gate_totals(added gate_reservations[], removed gate_reservations[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_gate_account();
  WITH change AS (
    SELECT day, currency, api_key_id, is_over, counted FROM unnest(added)
    UNION ALL
    SELECT day, currency, api_key_id, is_over, -counted FROM unnest(removed)
  ), spent AS (
    INSERT INTO gate_spending AS total (day, currency, api_key_id, amount)
    SELECT day, currency, key, sum(counted) FROM change, LATERAL (VALUES (api_key_id), ('')) AS owner(key)
    GROUP BY day, currency, key HAVING sum(counted) <> 0
    ON CONFLICT (day, currency, api_key_id) DO UPDATE SET amount = total.amount + excluded.amount
  )
  INSERT INTO gate_reserved AS total (currency, amount)
  SELECT currency, sum(counted) FROM change WHERE NOT is_over
  GROUP BY currency HAVING sum(counted) <> 0
  ON CONFLICT (currency) DO UPDATE SET amount = total.amount + excluded.amount;
END
$$;
--> statement-breakpoint
CREATE FUNCTION keep_gate_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_to_gate_totals((SELECT array_agg(ROW(made.*)::gate_reservations) FROM made), NULL);
  ELSIF TG_OP = 'UPDATE' THEN
    PERFORM add_to_gate_totals(
      (SELECT array_agg(ROW(made.*)::gate_reservations) FROM made),
      (SELECT array_agg(ROW(gone.*)::gate_reservations) FROM gone)
    );
  ELSE
    PERFORM add_to_gate_totals(NULL, (SELECT array_agg(ROW(gone.*)::gate_reservations) FROM gone));
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER gate_totals_inserted AFTER INSERT ON gate_reservations
  REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION keep_gate_totals();
--> statement-breakpoint
CREATE TRIGGER gate_totals_updated AFTER UPDATE ON gate_reservations
  REFERENCING NEW TABLE AS made OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gate_totals();
--> statement-breakpoint
CREATE TRIGGER gate_totals_deleted AFTER DELETE ON gate_reservations
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gate_totals();
--> statement-breakpoint
-- Looks before it locks: most attempts cost what was reserved. The row of the attempt is locked, so the answer holds.
CREATE FUNCTION recount_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM gate_reservations r WHERE r.attempt_id = NEW.id AND r.counted <> gate_counted(r)) THEN
    PERFORM lock_gate_account();
    UPDATE gate_reservations r SET counted = gate_counted(r) WHERE r.attempt_id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- A later migration that updates attempts and then alters the table needs SET CONSTRAINTS ALL IMMEDIATE in between.
-- Deferred to the commit, so that the lock of the account is taken last, whatever the transaction does afterwards.
CREATE CONSTRAINT TRIGGER attempts_recounted
  AFTER UPDATE OF state, settled, charged_amount, charged_currency ON attempts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    attempt_costs_nothing(OLD.state, OLD.settled) <> attempt_costs_nothing(NEW.state, NEW.settled)
    OR OLD.charged_amount IS DISTINCT FROM NEW.charged_amount
    OR OLD.charged_currency IS DISTINCT FROM NEW.charged_currency
  )
  EXECUTE FUNCTION recount_attempt();
