DROP INDEX "gate_pauses_one_active";--> statement-breakpoint
ALTER TABLE "gate_pauses" ADD COLUMN "origin" text DEFAULT 'operator' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "gate_pauses_one_active" ON "gate_pauses" USING btree ("origin",coalesce("kind", ''),coalesce("failure_class", '')) WHERE "gate_pauses"."released_at" is null;--> statement-breakpoint
ALTER TABLE "gate_pauses" ADD CONSTRAINT "gate_pauses_origin" CHECK ("gate_pauses"."origin" in ('operator', 'first_contact'));