/**
 * Preloaded (`node --import`) into a process and its threads: the first SIGUSR2 begins to count which functions run, the
 * second one writes the files and lines of those to `RUN_COVERAGE_FOLDER`, one JSON file for each thread.
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** Lines (1 is the first) of functions that ran, by file of the project. */
export type RunLines = Record<string, number[]>;

const PROJECT = join(import.meta.dirname, '../../..');
const INLINE_MAP = /\/\/# sourceMappingURL=data:application\/json[^,]*;base64,/;

const session = new Session();
session.connect();
// A thread has no signals: the main one tells the others.
const channel = new BroadcastChannel('run-coverage');
channel.unref();
let begun = false;
const proceed = () =>
  void (begun ? write() : begin()).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
// oxlint-disable-next-line unicorn/prefer-add-event-listener -- a listener would keep the thread alive
channel.onmessage = proceed;
if (isMainThread) {
  process.on('SIGUSR2', () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window
    channel.postMessage('proceed');
    proceed();
  });
}

async function begin(): Promise<void> {
  begun = true;
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
}

async function write(): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Debugger.enable');
  const lines = new Map<string, Set<number>>();
  for (const script of result) {
    if (script.url.startsWith('node:') || script.url.includes('node_modules')) continue;
    if (script.functions.every(({ ranges: [range] }) => range?.count === 0)) continue;
    for (const [file, line] of await linesOf(script)) {
      if (!lines.has(file)) lines.set(file, new Set());
      lines.get(file)?.add(line);
    }
  }
  const found: RunLines = Object.fromEntries([...lines].map(([file, numbers]) => [file, [...numbers]]));
  const folder = process.env['RUN_COVERAGE_FOLDER'] ?? '.';
  const file = join(folder, `${process.pid}-${threadId}.json`);
  // Whole, or not there: the test reads it as soon as it is there.
  writeFileSync(`${folder}.${process.pid}-${threadId}`, JSON.stringify(found));
  renameSync(`${folder}.${process.pid}-${threadId}`, file);
}

/** Our files are run as they are; the bundle of the workflows has a source map. */
async function linesOf({ scriptId, url, functions }: Profiler.ScriptCoverage): Promise<[file: string, line: number][]> {
  const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
  // From outer functions to inner ones, which have the last word about their lines.
  const positions = new Map<number, { readonly line: number; readonly column: number; readonly ran: boolean }>();
  for (const { functionName, ranges } of functions) {
    const [range] = ranges;
    if (range === undefined) continue;
    // The function that the bundler makes of a module runs once for each workflow.
    const ran = range.count > 0 && !functionName.endsWith('.ts');
    for (const { line, column } of positionsIn(scriptSource, range)) positions.set(line, { line, column, ran });
  }
  const ran = [...positions.values()].filter((each) => each.ran);
  const [, map] = scriptSource.split(INLINE_MAP);
  if (map === undefined) {
    return url.startsWith('file:') ? ran.map(({ line }) => [relative(PROJECT, fileURLToPath(url)), line + 1]) : [];
  }
  const payload: SourceMapPayload = JSON.parse(Buffer.from(map, 'base64').toString('utf8'));
  const sources = new SourceMap(payload);
  return ran.flatMap(({ line, column }) => {
    // Code that the bundler made has no source.
    const { originalSource = '', originalLine = 0 }: Partial<SourceMapping> = sources.findEntry(line, column);
    const path = originalSource.replace(/^webpack:\/\/[^/]*\//, '').replace(/^(\.\/)+/, '');
    const file = path.startsWith('/') ? relative(PROJECT, path) : path;
    return file === '' || file.includes('node_modules') || !existsSync(join(PROJECT, file))
      ? []
      : [[file, originalLine + 1]];
  });
}

/** The first character that is no space of each line of a function. Lines and columns begin with 0. */
function positionsIn(text: string, { startOffset, endOffset }: Profiler.CoverageRange) {
  const first = text.slice(0, startOffset).split('\n');
  const column = first.at(-1)?.length ?? 0;
  return text
    .slice(startOffset, endOffset)
    .split('\n')
    .map((part, index) => ({
      line: first.length - 1 + index,
      column: (index === 0 ? column : 0) + Math.max(part.search(/\S/), 0),
    }));
}
