-- Assigns positions to the oldest events without one, and notifies their readers with the newest position.
-- A function and not one statement: each statement of a function takes its own snapshot, so the events are read after
-- the wait for the lock. A single statement would number events by a snapshot from before its wait.
-- `is_received` is true when nothing was published, because an endpoint may receive events (db/events/webhook-endpoints.ts).
CREATE FUNCTION publish_events(batch integer, unless_received boolean)
RETURNS TABLE (is_received boolean, event jsonb) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('events.publication'));
  IF unless_received AND EXISTS (
    SELECT FROM webhook_endpoints WHERE disabled_at IS NULL AND deleted_at IS NULL
  ) THEN
    RETURN QUERY SELECT true, NULL::jsonb;
    RETURN;
  END IF;
  RETURN QUERY
    WITH waiting AS MATERIALIZED (
      SELECT sequence, row_number() OVER (ORDER BY sequence) AS number
      FROM (SELECT sequence FROM events WHERE position IS NULL ORDER BY sequence LIMIT batch) AS oldest
    ),
    published AS (
      UPDATE events SET position = (SELECT coalesce(max(position), 0) FROM events) + waiting.number
      FROM waiting WHERE events.sequence = waiting.sequence AND events.position IS NULL
      RETURNING events.*
    )
    SELECT false, jsonb_build_object(
      'sequence', published.sequence::text, 'id', published.id, 'position', published.position::text,
      'type', published.type, 'subjectKind', published.subject_kind, 'subjectId', published.subject_id,
      'apiKeyId', published.api_key_id, 'data', published.data, 'occurredAt', published.occurred_at)
    FROM published ORDER BY published.position;
  IF FOUND THEN
    PERFORM pg_notify('events', max(position)::text) FROM events;
  END IF;
END
$$;
