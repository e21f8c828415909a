import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '#cli/api/api-client.ts';
import { printJson, printLine, visible } from '#cli/terminal/output.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { report } from '#cli/terminal/user-error.ts';
import type { Problem } from '#clients/typescript/src/types.ts';
import { captured } from '#test/support/cli-output.ts';
import { PROJECT } from '#test/support/compose.ts';
import { assertForAll } from '#test/support/for-all.ts';

/** Control, format and separator characters, invisible letters, a lone surrogate, and sequences for a terminal. */
const HOSTILE = [
  ...Array.from('\n\r\t\0\u0007\u0085\u2028\u2029\u202e\u2066\u2069\u200b\u200d\u200e'),
  ...Array.from('\ufeff\u00ad\u061c\ud800\u3164\u2800\u{e0041}'),
  '\u001b[31m',
  '\u001b]0;title\u0007',
  '\u009b2J',
];
/** A safe printed line: no control, format or separator character, and no lone surrogate. */
const SAFE_LINE = /^(?:(?!\u115F|\u1160|\u3164|\uFFA0|\u034F|\u2800)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}])*$/u;

const text = fc
  .array(
    fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 5 }), fc.string({ maxLength: 8 })),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const printed = (print: (output: ReturnType<typeof captured>) => void): string => {
  const output = captured();
  print(output);
  return output.text();
};

describe('the output of external texts', () => {
  it('is one line without hidden characters, with each unsafe character as an escape', () => {
    assertForAll(text, (foreign) => {
      const lines = printed((output) => printLine(output, `by ${foreign}`)).split('\n');
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(line).toMatch(SAFE_LINE);
    });
    expect(visible('a\nord_1 \u202e2_dro\u202c \u001b[2K')).toBe('a\\nord_1 \\u202e2_dro\\u202c \\u001b[2K');
    expect(visible('Zürich, 東京, नमस्ते, €, é')).toBe('Zürich, 東京, नमस्ते, €, é');
  });

  it('is JSON that parses to the same value', () => {
    assertForAll(fc.jsonValue(), text, (value, foreign) => {
      const json = printed((output) => printJson(output, { value, foreign }));
      for (const line of json.split('\n')) expect(line).toMatch(SAFE_LINE);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, foreign })));
    });
  });

  it('is safe in errors too', () => {
    assertForAll(text, (foreign) => {
      const access = { url: 'http://127.0.0.1:1', key: 'k', keyFrom: 'a test' };
      const problem: Problem = {
        type: 'about:blank',
        code: 'validation_failed',
        title: 'Refused',
        status: 400,
        request_id: 'req_1',
        detail: foreign,
        errors: [{ in: 'body', field: foreign, message: foreign }],
      };
      const error = new ApiError('GET /', problem, access);
      const lines = printed((output) => void report(error, output))
        .trim()
        .split('\n');
      expect(lines.length).toBeLessThanOrEqual(3);
      for (const line of lines) expect(line).toMatch(SAFE_LINE);
    });
  });

  it('uses one function, so no command writes a text of a server itself', () => {
    const folders = ['access', 'operator', 'service', 'set-up'];
    const own = folders.flatMap((name) => {
      const folder = join(PROJECT, 'cli', name);
      return readdirSync(folder).flatMap((file) =>
        readFileSync(join(folder, file), 'utf8')
          .split('\n')
          .filter((line) => /\.write\(/.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    });
    // Keys, ids and limits that this process created or validated; `events` escapes before it paints.
    for (const line of own) expect(line).toMatch(/^(keys|encryption-keys|command-database|capabilities|events)\.ts: /);
  });
});

describe('a terminal that is not interactive', () => {
  it('gets each line once, without control characters', () => {
    let time = 0;
    const text = printed((output) => {
      const terminal = new Terminal(output, () => time);
      const step = terminal.step('PostgreSQL');
      step.update('setting up');
      time += 1_500;
      step.done('on 127.0.0.1:5433');
      terminal.say(terminal.bold('ready'));
    });
    expect(text).toBe('… PostgreSQL\n✔ PostgreSQL on 127.0.0.1:5433 (1.5 s)\nready\n');
  });
});

describe('a command that fails', () => {
  it('prints the causes of an error, and no stack when PostgreSQL or its certificate is refused', () => {
    const reported = (code: string, message: string) => {
      const cause = Object.assign(new Error(message), { code });
      const error = new Error('Failed query: select secret', { cause });
      return printed((output) => expect(report(error, output)).toBe(1));
    };
    expect(reported('28P01', 'password authentication failed for user "app"')).toBe(
      '\nPostgreSQL refuses the connection: password authentication failed for user "app"\n' +
        'Check DATABASE_URL, and DATABASE_DIRECT_URL if it is set.\n',
    );
    expect(reported('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate')).toContain('is not trusted: self');
    expect(reported('42P01', 'relation "x" does not exist')).toMatch(
      /^Error: Failed query[\s\S]*\nCaused by: relation "x" does not exist\n$/,
    );
  });
});
