CREATE TABLE "wallet_runway" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"reckoned_at" timestamp (3) with time zone NOT NULL,
	"days" double precision,
	"low_since" timestamp (3) with time zone,
	CONSTRAINT "wallet_runway_one_row" CHECK ("wallet_runway"."singleton")
);
--> statement-breakpoint
CREATE TABLE "pricing_rule_versions" (
	"rule_id" text NOT NULL,
	"version" integer NOT NULL,
	"change" text NOT NULL,
	"terms" jsonb NOT NULL,
	"actor" text NOT NULL,
	"why" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "pricing_rule_versions_rule_id_version_pk" PRIMARY KEY("rule_id","version"),
	CONSTRAINT "pricing_rule_versions_change" CHECK ("pricing_rule_versions"."change" in ('created', 'changed', 'ended'))
);
--> statement-breakpoint
CREATE TABLE "pricing_rules" (
	"id" text PRIMARY KEY NOT NULL,
	"target_kind" text NOT NULL,
	"target_key" text NOT NULL,
	"currency" text NOT NULL,
	"terms" jsonb NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "pricing_rules_target_kind" CHECK ("pricing_rules"."target_kind" in ('default', 'country', 'package', 'vpn_plan'))
);
--> statement-breakpoint
CREATE TABLE "esim_usage" (
	"esim_id" text PRIMARY KEY NOT NULL,
	"used_mb" double precision NOT NULL,
	"total_mb" double precision,
	"unlimited" boolean,
	"measured_at" timestamp (3) with time zone,
	"read_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "esims" ADD COLUMN "watch_due_at" timestamp (3) with time zone DEFAULT now();--> statement-breakpoint
CREATE UNIQUE INDEX "pricing_rules_one_in_force" ON "pricing_rules" USING btree ("target_kind","target_key","currency") WHERE "pricing_rules"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "pricing_rules_page" ON "pricing_rules" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "esims_watch" ON "esims" USING btree ("watch_due_at") WHERE "esims"."watch_due_at" is not null;--> statement-breakpoint
CREATE INDEX "esims_expiry" ON "esims" USING btree ("expires_at","id");--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_expiry" ON "vpn_subscriptions" USING btree ("expires_at","id") WHERE "vpn_subscriptions"."status" = 'active';