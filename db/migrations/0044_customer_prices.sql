ALTER TABLE "orders" ADD COLUMN "customer_price" numeric(21, 6);--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "customer_price_currency" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "customer_price" numeric(21, 6);--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "customer_price_currency" text;