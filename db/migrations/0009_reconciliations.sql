CREATE TABLE "reconciliations" (
	"id" text PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"status" text NOT NULL,
	"detail" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"read_since" timestamp (3) with time zone NOT NULL,
	"balance" numeric(21, 6),
	"balance_currency" text,
	"expected_balance" numeric(21, 6),
	"counts" jsonb NOT NULL,
	"sums" jsonb NOT NULL,
	"findings" jsonb NOT NULL,
	"finding_counts" jsonb NOT NULL,
	CONSTRAINT "reconciliations_run_id_unique" UNIQUE("run_id"),
	CONSTRAINT "reconciliations_status" CHECK ("reconciliations"."status" in ('complete', 'incomplete', 'unsupported', 'unavailable'))
);
--> statement-breakpoint
CREATE TABLE "wallet_movements" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "wallet_movements_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"service_id" text NOT NULL,
	"direction" text NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL,
	"order_id" text,
	"order_reference" text,
	"topup_id" text,
	"subscription_id" text,
	"subscription_reference" text,
	"esim_id" text,
	"refund_id" text,
	"cause_kind" text,
	"cause_id" text,
	"attempt_id" text,
	CONSTRAINT "wallet_movements_service_id_unique" UNIQUE("service_id"),
	CONSTRAINT "wallet_movements_positive" CHECK ("wallet_movements"."amount" >= 0),
	CONSTRAINT "wallet_movements_direction" CHECK ("wallet_movements"."direction" in ('debit', 'credit')),
	CONSTRAINT "wallet_movements_cause" CHECK (("wallet_movements"."cause_kind" is null) = ("wallet_movements"."cause_id" is null))
);
--> statement-breakpoint
CREATE INDEX "reconciliations_newest" ON "reconciliations" USING btree ("started_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_movements_one_per_cause" ON "wallet_movements" USING btree ("cause_kind","cause_id","direction");--> statement-breakpoint
CREATE INDEX "wallet_movements_attempt" ON "wallet_movements" USING btree ("attempt_id");--> statement-breakpoint
CREATE INDEX "wallet_movements_without_cause" ON "wallet_movements" USING btree ("occurred_at") WHERE "wallet_movements"."cause_kind" is null;--> statement-breakpoint
CREATE INDEX "journal_recorded_at" ON "journal" USING btree ("recorded_at");--> statement-breakpoint
ALTER TABLE "journal" ADD CONSTRAINT "journal_cause_kind" CHECK ("journal"."cause_kind" in ('attempt', 'subscription_period', 'refund', 'deposit', 'adjustment'));