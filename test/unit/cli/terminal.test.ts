import { describe, expect, it } from 'vitest';
import { Terminal } from '#cli/terminal/terminal.ts';
import { report } from '#cli/terminal/user-error.ts';
import { ConfigurationError } from '#config/configuration-error.ts';

function capture(isTTY: boolean) {
  let written = '';
  let time = 0;
  const output = { isTTY, columns: 40, write: (text: string | Uint8Array) => ((written += String(text)), true) };
  const terminal = new Terminal(output, () => time);
  return { terminal, output, written: () => written, pass: (ms: number) => (time += ms) };
}

describe('a terminal that is not interactive', () => {
  it('gets each line once, without control characters', () => {
    const { terminal, written, pass } = capture(false);
    const step = terminal.step('PostgreSQL');
    step.update('setting up');
    pass(1_500);
    step.done('on 127.0.0.1:5433');
    terminal.say(terminal.bold('ready'));
    expect(written()).toBe('… PostgreSQL\n✔ PostgreSQL on 127.0.0.1:5433 (1.5 s)\nready\n');
  });
});

describe('a command that fails', () => {
  it('exits with 78 for its configuration, and lists every problem', () => {
    const { output, written } = capture(false);
    expect(report(new ConfigurationError(['A', 'B'].map((name) => ({ name, message: 'is missing' }))), output)).toBe(
      78,
    );
    expect(written()).toContain('A is missing\n  - B is missing');
  });

  it('prints the causes of an error, and no stack when PostgreSQL or its certificate is refused', () => {
    const wrapped = (code: string, message: string) =>
      new Error('Failed query: select secret', { cause: Object.assign(new Error(message), { code }) });
    const printed = (error: unknown) => {
      const { output, written } = capture(false);
      expect(report(error, output)).toBe(1);
      return written();
    };
    expect(printed(wrapped('28P01', 'password authentication failed for user "app"'))).toBe(
      '\nPostgreSQL refuses the connection: password authentication failed for user "app"\n' +
        'Check DATABASE_URL, and DATABASE_DIRECT_URL if it is set.\n',
    );
    expect(printed(wrapped('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate'))).toContain('is not trusted: self');
    expect(printed(wrapped('42P01', 'relation "x" does not exist'))).toMatch(
      /^Error: Failed query[\s\S]*\nCaused by: relation "x" does not exist\n$/,
    );
  });
});
