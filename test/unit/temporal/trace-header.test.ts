import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { traceparentIn } from '#temporal/connection.ts';
import { interceptors } from '#workflows/interceptors.ts';
import { TRACE_HEADER } from '#workflows/messages.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const headerOf = (value: unknown): Headers => ({ [TRACE_HEADER]: defaultPayloadConverter.toPayload(value) });

describe('the trace in the headers of an activity', () => {
  it('is the one that a client has written', () => {
    expect(traceparentIn(headerOf({ traceparent: TRACEPARENT, tracestate: 'a=b' }))).toBe(TRACEPARENT);
  });

  it.each<[string, Headers]>([
    ['no header', {}],
    ['a text', headerOf('garbage')],
    ['null', headerOf(null)],
    ['another field', headerOf({ trace: TRACEPARENT })],
    ['a number', headerOf({ traceparent: 7 })],
    ['an unknown encoding', { [TRACE_HEADER]: { metadata: { encoding: Buffer.from('strange') }, data: Buffer.of(1) } }],
    ['broken JSON', { [TRACE_HEADER]: { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') } }],
    ['no metadata', { [TRACE_HEADER]: {} }],
  ])('is absent for %s', (_what, headers) => {
    expect(traceparentIn(headers)).toBeUndefined();
  });
});

/** The headers that a workflow with these headers gives its activities and its next run. */
async function handedOn(headers: Headers) {
  const { inbound = [], outbound = [] } = interceptors();
  const seen: Record<string, Headers> = {};
  const note = (name: string) => (input: { headers: Headers }) => {
    seen[name] = input.headers;
    return Promise.resolve();
  };
  await inbound[1]?.execute?.({ args: [], headers }, async () => undefined);
  const own = { other: defaultPayloadConverter.toPayload('own') };
  const input = { headers: own } as never;
  await outbound[0]?.scheduleActivity?.(input, note('activity'));
  await outbound[0]?.scheduleLocalActivity?.(input, note('local'));
  await outbound[0]?.continueAsNew?.(input, note('next') as never);
  return { seen, own };
}

const names = ({ seen }: Awaited<ReturnType<typeof handedOn>>) =>
  Object.values(seen).map((headers) => Object.keys(headers));

describe('a workflow', () => {
  it('hands its trace on to activities, local activities and its next run, beside their own headers', async () => {
    const run = await handedOn(headerOf({ traceparent: TRACEPARENT }));
    const both = ['other', TRACE_HEADER];
    expect(names(run)).toEqual([both, both, both]);
    for (const headers of Object.values(run.seen)) expect(traceparentIn(headers)).toBe(TRACEPARENT);
  });

  it('without a trace hands on nothing, also after another one with a trace', async () => {
    expect(names(await handedOn({}))).toEqual([['other'], ['other'], ['other']]);
  });
});
