-- In the order of claims, so that a running worker waits instead of causing a deadlock.
LOCK TABLE attempts, gate_reservations IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "gate_reserved" (
	"currency" text PRIMARY KEY NOT NULL,
	"amount" numeric(21, 6) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gate_spending" (
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"api_key_id" text NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	CONSTRAINT "gate_spending_day_currency_api_key_id_pk" PRIMARY KEY("day","currency","api_key_id")
);
--> statement-breakpoint
DROP INDEX "gate_reservations_day";--> statement-breakpoint
ALTER TABLE "gate_reservations" ADD COLUMN "counted" numeric(21, 6) DEFAULT '0' NOT NULL;--> statement-breakpoint
CREATE INDEX "gate_reservations_day" ON "gate_reservations" USING brin ("day");