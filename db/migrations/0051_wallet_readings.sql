CREATE TABLE "debit_delays" (
	"kind" text PRIMARY KEY NOT NULL,
	"longest_ms" bigint,
	"within_ms" bigint,
	"seen_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "wallet_readings" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "wallet_readings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"began_at" timestamp (3) with time zone NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"balance_amount" numeric(21, 6),
	"balance_currency" text,
	"is_whole" boolean NOT NULL,
	"reaches_back_to" bigint,
	"newest_row" text,
	"newest_row_at" timestamp (3) with time zone,
	"new_rows" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "wallet_movements" ADD COLUMN "first_reading" bigint;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "last_sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "failed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "reading_before" bigint;--> statement-breakpoint
CREATE INDEX "wallet_movements_first_reading" ON "wallet_movements" USING btree ("first_reading");