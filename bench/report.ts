import type { BenchResults, ScenarioResult } from '#bench/results.ts';

/** The results for a person, as a Markdown table that reads well in a terminal, too. */
export function reportLines(results: BenchResults): string[] {
  const { machine, servers, mode, scenarios, duration_s: seconds } = results;
  const header = ['scenario', 'ours', 'peer', 'ratio to peer', 'limit', 'ratio to limit'];
  const rows = scenarios.map((scenario) => [
    scenario.id,
    withSpread(scenario.value, scenario.spread, scenario.unit),
    scenario.peer === null ? '–' : withSpread(scenario.peer.value, scenario.peer.spread, scenario.unit),
    scenario.ratio_to_peer === null ? '–' : withSpread(scenario.ratio_to_peer.value, scenario.ratio_to_peer),
    limitOf(scenario),
    scenario.limit_met === null ? '–' : `${scenario.ratio_to_limit} ${scenario.limit_met ? 'met' : 'MISSED'}`,
  ]);
  const widths = header.map((title, column) =>
    Math.max(...[header, ...rows].map((row) => (row[column] ?? title).length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [
    `${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.platform}, Node ${machine.node}, load average ` +
      `${machine.load_average_at_start} at the start; PostgreSQL ${servers.postgresql} (fsync ${servers.fsync}, ` +
      `synchronous_commit ${servers.synchronous_commit}, a single insert takes ${servers.single_insert_ms} ms), ` +
      `Temporal server ${servers.temporal}; ${Math.round(seconds)} s.`,
    ...(mode === 'quick' ? ['A quick run proves that the benchmark works. Its figures say nothing.'] : []),
    '',
    line(header),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
    '',
    'Medians of the rounds, lowest and highest in brackets. Ratios are ours divided by the peer’s, round by round.',
  ];
}

/** The table at the top of docs/benchmarks.md: every figure that has an aim, without the recorded histories. */
export function aimLines({ scenarios }: BenchResults): string[] {
  const rows = scenarios.flatMap((scenario) => {
    const { id, value, unit, peer, ratio_to_peer: ratio, limit_met: isMet } = scenario;
    if (isMet === null || id.startsWith('history.')) return [];
    const [ours, theirs] = [value, peer?.value].map((each) => (each === undefined ? '–' : `${each} ${unit}`));
    const cells = [`\`${id}\``, ours, theirs, ratio === null ? '–' : withSpread(ratio.value, ratio)];
    return [`| ${[...cells, `${limitOf(scenario)}${isMet ? '' : ': missed'}`].join(' | ')} |`];
  });
  return ['| figure | ours | peer | ratio (lowest–highest) | aim |', '|---|---|---|---|---|', ...rows];
}

function withSpread(value: number, { min, max }: { min: number; max: number }, unit?: string): string {
  return `${value}${unit === undefined || unit === 'ratio' ? '' : ` ${unit}`} (${min}–${max})`;
}

function limitOf({ limit, unit }: ScenarioResult): string {
  if (limit === null) return '–';
  const sign = limit.bound === 'at_least' ? '≥' : '≤';
  return limit.of === 'value' && unit !== 'ratio' ? `${sign} ${limit.amount} ${unit}` : `ratio ${sign} ${limit.amount}`;
}
