/**
 * Adds points around external effects of a process: commits to PostgreSQL, calls of the service, calls of Temporal.
 * The points are attached to the libraries. The product does not contain them.
 */
import { AsyncResource } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { WorkflowClient } from '@temporalio/client';
import pg from 'pg';
import { FaultPoints } from '#test/crash/processes/fault-points.ts';
import { WEBHOOK_ENDPOINT_WORKFLOW } from '#workflows/messages.ts';

/**
 * Adds points around each commit of a transaction and each writing statement outside of one. The name of a commit is
 * its number, or its first writing statement. It also has a name for each writing statement in it, for plans that must
 * not depend on the number of earlier commits.
 */
export function watchCommits(points: FaultPoints, otherwise: string): void {
  /** For each connection, the writing statements of its open transaction, in order. */
  const open = new WeakMap<object, string[]>();
  const namesOf = (connection: object, text: string): string[] => {
    const wrote = open.get(connection);
    const scope = points.scope ?? otherwise;
    if (/^begin\b/i.test(text)) open.set(connection, []);
    else if (/^rollback\b/i.test(text)) open.delete(connection);
    else if (/^commit\b/i.test(text)) {
      open.delete(connection);
      const byWrite = [...new Set(wrote)].map((write) => `commit of ${write}`);
      const name = points.nextCommit(wrote ?? []) ?? byWrite[0] ?? 'commit of nothing';
      return [...new Set([name, ...byWrite])].map((each) => `${scope} > ${each}`);
    } else {
      const writes = writesOf(text);
      if (writes.length === 0) return [];
      if (wrote === undefined) return [`${scope} > ${writes[0]}`];
      wrote.push(...writes);
    }
    return [];
  };
  const reach = ([point, ...others]: string[], moment: 'before' | 'after') => {
    const names = [point, ...others.filter((other) => points.isPlanned(`${other} > ${moment}`))];
    for (const name of names) points.reach(`${name} > ${moment}`);
  };
  const around = (connection: object, args: unknown[], query: (args: unknown[]) => unknown): unknown => {
    const names = namesOf(connection, textOf(args[0]));
    if (names.length === 0) return query(args);
    reach(names, 'before');
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      const after = (...results: unknown[]): unknown => {
        if (results[0] == null && changedSomething(results[1])) reach(names, 'after');
        return (callback as (...results: unknown[]) => unknown)(...results);
      };
      return query([...args.slice(0, -1), after]);
    }
    return Promise.resolve(query(args)).then((result) => {
      if (changedSomething(result)) reach(names, 'after');
      return result;
    });
  };
  // A busy pool runs the callback in the context of the caller that returns a connection. Keep the own context.
  const pool = pg.Pool.prototype as { connect: (callback?: (...results: unknown[]) => unknown) => unknown };
  const connect = pool.connect;
  pool.connect = function bound(this: object, callback) {
    return callback === undefined ? connect.call(this) : connect.call(this, AsyncResource.bind(callback));
  };
  const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  prototype.query = function query(this: object, ...args: unknown[]) {
    return around(this, args, (given) => original.apply(this, given));
  };
}

/** False for a writing statement that changed no row, such as an empty poll. COMMIT has no row count. */
function changedSomething(result: unknown): boolean {
  return !(typeof result === 'object' && result !== null && 'rowCount' in result && result.rowCount === 0);
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement.trim();
  const text = typeof statement === 'object' && statement !== null && 'text' in statement ? statement.text : undefined;
  return typeof text === 'string' ? text.trim() : '';
}

/** `update inbox`, …: first what the statement itself writes, then what its `with` does; none for what only reads. */
function writesOf(text: string): string[] {
  // `for update skip locked` writes nothing, and `on conflict do update` names no table.
  const writing = text.replace(/\bfor (no key )?update\b/gi, '').replace(/\bdo update\b/gi, '');
  const writes = /\b(insert into|update|delete from)\s+(?:only\s+)?"?(\w+)"?(?=[\s("]|$)/gi;
  const found = [...writing.matchAll(writes)].map(
    ([, verb = '', table]) => `${verb.toLowerCase().split(' ', 1)[0]} ${table}`,
  );
  return found.toReversed();
}

/** Adds points around each call of the service: before the request, after the request, after the whole answer. */
export function watchServiceCalls(points: FaultPoints): void {
  const calls = new WeakMap<object, string>();
  const on = (channel: string, listener: (request: object) => void) =>
    diagnostics.subscribe(`undici:request:${channel}`, (message) => listener((message as { request: object }).request));
  on('create', (request) => {
    const { method, path } = request as { method: string; path: string };
    const call = `${points.scope ?? 'no scope'} > ${method} ${placeOf(path)}`;
    calls.set(request, call);
    points.reach(`${call} > before`);
  });
  const later = (channel: string, moment: string) =>
    on(channel, (request) => {
      const call = calls.get(request);
      if (call !== undefined) points.reach(`${call} > ${moment}`);
    });
  later('bodySent', 'sent');
  later('trailers', 'answered');
}

/** The path below `{base_url}`, with `{id}` in place of the service's ids. */
function placeOf(path: string): string {
  const [plain = ''] = path.replace(/^.*\/v1(\/sandbox)?/, '').split('?', 1);
  return plain.replace(/\/s[a-z]{1,2}_[^/]+/g, '/{id}');
}

export function watchHandOver(points: FaultPoints): void {
  const prototype = WorkflowClient.prototype as unknown as Record<
    'start' | 'signalWithStart',
    (...args: unknown[]) => Promise<unknown>
  >;
  for (const method of ['start', 'signalWithStart'] as const) {
    const original = prototype[method];
    prototype[method] = async function handOver(this: unknown, ...args: unknown[]) {
      // The relay wakes webhook endpoints by the same call as work.
      const name = args[0] === WEBHOOK_ENDPOINT_WORKFLOW ? 'wake endpoint' : method;
      points.reach(`relay > ${name} > before`);
      const result = await original.apply(this, args);
      points.reach(`relay > ${name} > after`);
      return result;
    };
  }
}

/** Adds points around the commits of an API process. Call before its start. */
export function watchApi(): void {
  const points = new FaultPoints();
  diagnostics.subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: { method: string; url: string } };
    points.enter(
      `${request.method} ${request.url.split('?', 1)[0]?.replace(/\/[a-z]{2,4}_[0-9A-Z]{26}/g, '/{id}') ?? ''}`,
    );
  });
  watchCommits(points, 'api');
}
