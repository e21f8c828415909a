const WIDTH = 720;
const TOP = 44;
const LINES_HEIGHT = 320;
const LINES_LEFT = 64;
const COLOURS = ['#1b6ca8', '#e07a1f', '#3a8f4d', '#9a4fb5', '#c0392b', '#6b7785', '#b58900'] as const;
const TICKS = 5;
const LEGEND_ROW = 20;
/** Width of a letter, at most. */
const LETTER = 7;

/** Lines as SVG text; both axes begin at zero. */
export function lines(
  title: string,
  axes: { readonly x: string; readonly y: string },
  series: Readonly<Record<string, readonly (readonly [number, number])[]>>,
): string {
  const points = Object.values(series).flat();
  const highX = Math.max(...points.map(([x]) => x), 1e-9);
  const highY = Math.max(...points.map(([, y]) => y), 1e-9);
  const bottom = LINES_HEIGHT - 60;
  const px = (x: number) => LINES_LEFT + ((WIDTH - LINES_LEFT - 24) * x) / highX;
  const py = (y: number) => bottom - ((bottom - TOP) * y) / highY;
  const grid = Array.from({ length: TICKS + 1 }, (_, tick) => {
    const y = (highY * tick) / TICKS;
    return line([LINES_LEFT, py(y)], [WIDTH - 24, py(y)], '#ddd') + text(LINES_LEFT - 6, py(y) + 4, short(y), 'end');
  });
  const marks = Array.from({ length: TICKS + 1 }, (_, tick) => (highX * tick) / TICKS);
  const below = marks.map((x) => text(px(x), bottom + 16, short(x), 'middle'));
  const drawn = Object.values(series).map(
    (each, place) =>
      `<polyline fill="none" stroke="${colour(place)}" stroke-width="2" points="` +
      `${each.map(([x, y]) => `${fixed(px(x))},${fixed(py(y))}`).join(' ')}"/>`,
  );
  const names = Object.keys(series);
  return svg(LINES_HEIGHT - 24 + legendHeight(names), title, [
    ...grid,
    ...below,
    ...drawn,
    text(WIDTH - 24, bottom + 32, axes.x, 'end'),
    text(LINES_LEFT, TOP - 8, axes.y, 'start'),
    ...legend(names, LINES_HEIGHT - 20),
  ]);
}

/** As many columns as the longest name allows. */
function legendColumns(names: readonly string[]): number {
  const longest = Math.max(...names.map((name) => name.length), 0) * LETTER + 26;
  return Math.min(4, Math.max(1, Math.floor((WIDTH - 24) / longest)));
}

function legendHeight(names: readonly string[]): number {
  return LEGEND_ROW * Math.max(1, Math.ceil(names.length / legendColumns(names)));
}

function legend(names: readonly string[], top: number): string[] {
  const columns = legendColumns(names);
  return names.flatMap((name, place) => {
    const left = 24 + (place % columns) * ((WIDTH - 24) / columns);
    const row = top + Math.floor(place / columns) * LEGEND_ROW;
    return [rect(left, row - 10, 12, 12, colour(place)), text(left + 18, row, name, 'start')];
  });
}

function svg(height: number, title: string, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`,
    ` font-family="sans-serif" font-size="12" role="img" aria-label="${escaped(title)}">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="24" y="24" font-size="15" font-weight="bold" fill="#222">${escaped(title)}</text>`,
    ...content,
    '</svg>\n',
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" fill="#222">${escaped(content)}</text>`;
}

function rect(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}" fill="${fill}"/>`;
}

function line([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number], stroke: string): string {
  return `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" stroke="${stroke}"/>`;
}

function colour(place: number): string {
  return COLOURS[place % COLOURS.length] ?? COLOURS[0];
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
