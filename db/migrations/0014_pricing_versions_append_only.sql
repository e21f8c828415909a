CREATE FUNCTION refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'versions of pricing rules are append-only: change the rule'
    USING ERRCODE = 'integrity_constraint_violation';
END
$$;
--> statement-breakpoint
CREATE TRIGGER pricing_rule_versions_append_only
  BEFORE UPDATE OR DELETE ON "pricing_rule_versions"
  FOR EACH ROW EXECUTE FUNCTION refuse_version_change();
--> statement-breakpoint
CREATE TRIGGER pricing_rule_versions_no_truncate
  BEFORE TRUNCATE ON "pricing_rule_versions"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_version_change();
