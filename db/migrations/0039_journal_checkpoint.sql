CREATE TABLE "journal_checkpoint" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"through" timestamp (3) with time zone NOT NULL,
	"sums" jsonb NOT NULL,
	CONSTRAINT "journal_checkpoint_one_row" CHECK ("journal_checkpoint"."singleton")
);
--> statement-breakpoint
CREATE TABLE "journal_outstanding" (
	"journal_id" bigint PRIMARY KEY NOT NULL
);
--> statement-breakpoint
ALTER TABLE "journal_outstanding" ADD CONSTRAINT "journal_outstanding_journal_id_journal_id_fk" FOREIGN KEY ("journal_id") REFERENCES "public"."journal"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attempts_failed" ON "attempts" USING btree ("subject_kind","id") WHERE "attempts"."state" in ('failed', 'refused');--> statement-breakpoint
-- The rule alone, without a look-up, so that a comparison can join the tables as a whole.
CREATE FUNCTION gate_cost(attempt attempts, reservation gate_reservations) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN attempt.id IS NULL OR attempt_costs_nothing(attempt.state, attempt.settled) THEN 0
    WHEN attempt.charged_currency = reservation.currency THEN attempt.charged_amount
    ELSE reservation.amount
  END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION gate_counted(reservation gate_reservations) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT gate_cost(attempts, reservation) FROM attempts WHERE attempts.id = reservation.attempt_id),
    0
  )
$$;
