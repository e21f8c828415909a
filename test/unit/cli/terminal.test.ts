import { describe, expect, it } from 'vitest';
import { Terminal } from '#cli/terminal/terminal.ts';
import { report } from '#cli/terminal/user-error.ts';
import { captured } from '#test/support/cli-output.ts';

describe('a terminal that is not interactive', () => {
  it('gets each line once, without control characters', () => {
    let time = 0;
    const output = captured();
    const terminal = new Terminal(output, () => time);
    const step = terminal.step('PostgreSQL');
    step.update('setting up');
    time += 1_500;
    step.done('on 127.0.0.1:5433');
    terminal.say(terminal.bold('ready'));
    expect(output.text()).toBe('… PostgreSQL\n✔ PostgreSQL on 127.0.0.1:5433 (1.5 s)\nready\n');
  });
});

describe('a command that fails', () => {
  it('prints the causes of an error, and no stack when PostgreSQL or its certificate is refused', () => {
    const wrapped = (code: string, message: string) =>
      new Error('Failed query: select secret', { cause: Object.assign(new Error(message), { code }) });
    const printed = (error: unknown) => {
      const output = captured();
      expect(report(error, output)).toBe(1);
      return output.text();
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
